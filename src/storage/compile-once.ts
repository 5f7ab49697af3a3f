// Compiles the statements of the busiest paths once: only their values change, and building SQL costs more than running it.

import type { Compilable } from 'kysely'
import type { Scalar, Secret, Statement } from './engine/statement.ts'

type Values<Name extends string> = Readonly<Record<Name, Scalar | Secret>>
/** Stands for a value of any type while the statement is built. */
type Marks<Name extends string> = Readonly<Record<Name, never>>

/** `build` is given marks for the named values; every one of them must end up as a parameter. */
export function compileOnce<Name extends string>(
  names: readonly Name[],
  build: (value: Marks<Name>) => Compilable,
): (values: Values<Name>) => Statement {
  const nameOf = new Map<unknown, Name>(names.map((name) => [`mark ${name}`, name]))
  const marks = Object.fromEntries([...nameOf].map(([mark, name]) => [name, mark])) as Marks<Name>
  const { sql, parameters } = build(marks).compile()
  const slots = parameters.map((parameter) => ({ name: nameOf.get(parameter), fixed: parameter as Scalar }))
  const lost = names.filter((name) => !slots.some((slot) => slot.name === name))
  if (lost.length > 0) throw new Error(`the statement does not take ${lost.join(', ')} as parameters: ${sql}`)
  return (values) => ({
    sql,
    parameters: slots.map(({ name, fixed }) => (name === undefined ? fixed : values[name])),
  })
}

/** For reads, with the type of their rows. */
export function compileReadOnce<Name extends string, Output>(
  names: readonly Name[],
  build: (value: Marks<Name>) => Compilable<Output>,
): (values: Values<Name>) => Compilable<Output> {
  const fill = compileOnce(names, build)
  return (values) => ({ compile: () => fill(values) as ReturnType<Compilable<Output>['compile']> })
}
