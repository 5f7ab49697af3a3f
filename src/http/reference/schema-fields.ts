// Lists the fields of a schema, also the nested ones, with what each of them takes.

import { valuesOf } from './api-document.ts'
import type { ApiSchema } from './api-document.ts'

/** `path` is the place inside the body: `qr.available`, `rows[].day`. `takes` names values and limits. */
export type Field = { path: string; type: string; isRequired: boolean; takes: string; description: string }

export function fieldsOf(schema: ApiSchema, prefix = ''): Field[] {
  if (schema.items) return fieldsOf(schema.items, `${prefix}[]`)
  return Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    const isRequired = schema.required?.includes(name) ?? false
    return [fieldOf(path, each, isRequired), ...fieldsOf(each, path)]
  })
}

export function fieldOf(path: string, schema: ApiSchema, isRequired: boolean): Field {
  return { path, type: typeOf(schema), isRequired, takes: takesOf(schema), description: schema.description ?? '' }
}

export function typeOf(schema: ApiSchema): string {
  const isNullable = schema.nullable ?? schema.anyOf?.some(({ nullable }) => nullable)
  return isNullable ? `${plainTypeOf(schema)} or null` : plainTypeOf(schema)
}

function plainTypeOf(schema: ApiSchema): string {
  const { type, format, items, anyOf } = schema
  if (items) return `array of ${typeOf(items)}`
  if (valuesOf(schema)) return type ?? 'string'
  if (anyOf) return [...new Set(anyOf.map(plainTypeOf))].join(' or ')
  if (format !== undefined) return `${type ?? 'string'}, ${format}`
  return type ?? 'any'
}

function takesOf(schema: ApiSchema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, items, anyOf = [] } = schema
  const all = valuesOf(schema) ?? valuesOf(items ?? {}) ?? anyOf.flatMap((each) => valuesOf(each) ?? [])
  // The type says already whether null is allowed.
  const values = all.filter((value) => value !== null)
  return [
    values.length > 0 ? `one of ${values.join(', ')}` : '',
    rangeOf(minimum, maximum, ''),
    rangeOf(minLength, maxLength, ' characters'),
    rangeOf(minItems, maxItems, ' items'),
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
  ]
    .filter((each) => each !== '')
    .join('; ')
}

function rangeOf(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return ''
  if (most === undefined) return `at least ${least ?? 0}${unit}`
  return least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`
}
