// Makes the example request and the example answer of an operation from its schemas.

import { bodyOf, formType, successOf, valuesOf } from './api-document.ts'
import type { ApiSchema, Operation } from './api-document.ts'
import { exampleValues, operationValues, shownOptions, wholeAnswers, wholeRequests } from './example-values.ts'

const timestamp = '2026-01-15T12:00:00.000Z'

/** An example and the schema that it fits. */
export type Example = { value: unknown; schema: ApiSchema }

/** The JSON body of the request; undefined for a request without one. */
export function exampleBody(operation: Operation): Example | undefined {
  const whole = wholeRequests[operation.id]
  if (whole !== undefined) return { value: whole, schema: {} }
  const body = bodyOf(operation.requestBody)
  if (body?.type === formType) return undefined
  return body && { value: exampleOf(body.schema, operation.id), schema: body.schema }
}

/** The answer of a call that went well: JSON or text. Undefined for a file. */
export function exampleAnswer(operation: Operation): Example | undefined {
  const { body } = successOf(operation)
  if (!body || body.schema.format === 'binary') return undefined
  return { value: wholeAnswers[operation.id] ?? exampleOf(body.schema, operation.id), schema: body.schema }
}

/** The path with an example in the place of each parameter. It names the same instance everywhere. */
export function examplePath({ path, parameters = [] }: Operation): string {
  const inPath = parameters.filter((each) => each.in === 'path')
  return inPath.reduce((filled, { name, schema = {} }) => {
    return filled.replace(`{${name}}`, encodeURIComponent(String(exampleOf(schema, '', name))))
  }, path)
}

function exampleOf(schema: ApiSchema, id: string, name = ''): unknown {
  const known = [...(operationValues[id]?.[name] ?? []), ...(exampleValues[name] ?? [])]
  const fitting = known.find((value) => fits(value, schema))
  if (fitting !== undefined) return fitting
  const [first] = valuesOf(schema) ?? []
  if (first !== undefined) return first
  if (schema.properties) return exampleObject(schema, id)
  if (schema.items) return [exampleOf(schema.items, id, name)]
  if (schema.anyOf?.[0]) return exampleOf(schema.anyOf[0], id, name)
  return plainExample(schema)
}

/** A request whose fields are all optional shows the first of them. */
function exampleObject({ properties = {}, required = [] }: ApiSchema, id: string): Record<string, unknown> {
  const names = Object.keys(properties)
  const shown = names.filter((name) => required.includes(name) || shownOptions.has(name))
  return Object.fromEntries(
    (shown.length === 0 ? names.slice(0, 1) : shown).map((name) => [name, exampleOf(properties[name] ?? {}, id, name)]),
  )
}

function plainExample({ type, format, minimum = 0 }: ApiSchema): unknown {
  if (type === 'boolean') return false
  if (type === 'integer' || type === 'number') return minimum
  if (type === 'object') return {}
  return format === 'date-time' ? timestamp : 'text'
}

function fits(value: unknown, schema: ApiSchema): boolean {
  if (value === null) return schema.nullable === true
  const values = valuesOf(schema)
  if (values) return values.some((each) => each === value)
  if (Array.isArray(value)) return schema.type === 'array' && value.every((each) => fits(each, schema.items ?? {}))
  if (schema.type === 'integer' || schema.type === 'number') return typeof value === 'number'
  return typeof value === schema.type && (schema.pattern === undefined || matches(value, schema.pattern))
}

function matches(value: unknown, pattern: string): boolean {
  return typeof value === 'string' && new RegExp(pattern, 'u').test(value)
}
