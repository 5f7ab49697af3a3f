// Compiles each schema once per process, when it is first used: compiling all of them would delay the start. Many routes have the
// same answers, and one process may create several servers, as tests do. The schemas are those of the routes, so their number has
// a limit.

import { AjvCompiler } from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Compiled<Result> = ((...input: never[]) => Result) & { errors?: unknown; schemaEnv?: unknown }
type Build<Shared, Options, Definition, Function> = (
  shared: Shared,
  options?: Options,
) => (definition: Definition) => Function

/** What was asked for and is not compiled yet. */
const uncompiled = new Set<() => void>()

/** For a test: compiles what no route has used yet. Throws when a schema is broken. Returns how many schemas it has compiled. */
export function compileAll(): number {
  const pending = [...uncompiled]
  for (const compile of pending) compile()
  return pending.length
}

function compileOnce<Shared, Options, Definition, Function extends Compiled<unknown>>(
  build: Build<Shared, Options, Definition, Function>,
): Build<Shared, Options, Definition, Function> {
  const known = new Map<string, Function>()
  return (shared, options) => {
    let compile: ((definition: Definition) => Function) | undefined
    return (definition) => {
      // Fastify hands over the schema with its route, unlike the type of the validators says.
      const { schema } = definition as { schema?: unknown }
      const key = JSON.stringify([shared, options, schema])
      const compiled =
        known.get(key) ??
        whenUsed(() => {
          compile ??= build(shared, options)
          return compile(definition)
        })
      known.set(key, compiled)
      return compiled
    }
  }
}

/** A function that is compiled by its first call. Fastify reads the errors of a check, and whether Ajv has made it. */
function whenUsed<Function extends Compiled<unknown>>(compile: () => Function): Function {
  let compiled: Function | undefined
  const use = (): Function => {
    if (compiled) return compiled
    uncompiled.delete(use)
    compiled = compile()
    return compiled
  }
  uncompiled.add(use)
  const call = (...input: never[]) => use()(...input)
  return Object.defineProperties(call, {
    errors: { get: () => use().errors },
    schemaEnv: { get: () => use().schemaEnv },
  }) as Function
}

/** For the option `schemaController` of a server. */
export const compilersFactory = {
  buildValidator: compileOnce(AjvCompiler()),
  buildSerializer: compileOnce(SerializerSelector()),
}
