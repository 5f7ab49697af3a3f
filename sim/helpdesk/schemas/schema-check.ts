// Checks values against schemas. Each schema is compiled once per process, at its first use.

import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

type Check = { Check(value: unknown): boolean; Errors(value: unknown): { instancePath: string; message: string }[] }

const checks = new WeakMap<TSchema, Check>()

/** Returns undefined for a fitting value, or the first reasons why the value does not fit. */
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

/** Drops the keys of an object that its schema does not name, as the strong parameters of Rails do. */
export function withoutUnknown(schema: TSchema, value: unknown): unknown {
  const { properties, additionalProperties } = schema as {
    properties?: Record<string, TSchema>
    additionalProperties?: unknown
  }
  if (!properties || additionalProperties !== false || typeof value !== 'object' || value === null) return value
  const known = Object.entries(value).filter(([key]) => key in properties)
  return Object.fromEntries(known.map(([key, inner]) => [key, withoutUnknown(properties[key] ?? {}, inner)]))
}
