// Checks values against schemas: each schema is compiled once per process, when it is first needed.

import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

type Check = { Check(value: unknown): boolean; Errors(value: unknown): { instancePath: string; message: string }[] }

const checks = new WeakMap<TSchema, Check>()

/** Undefined when the value fits, else the first reasons why it does not. */
export function misfit(schema: TSchema, value: unknown): string | undefined {
  const check = checks.get(schema) ?? Compile(schema)
  checks.set(schema, check)
  if (check.Check(value)) return undefined
  return check
    .Errors(value)
    .slice(0, 3)
    .map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
    .join('; ')
}
