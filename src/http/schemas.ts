// Schemas that several routes share, written so that Ajv and OpenAPI 3.0.3 read them in the same way.

import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { instanceNamePattern } from '../core/instance.ts'
import { ownerTagPattern } from '../core/tenant.ts'

/** OpenAPI 3.0 has no null type and uses `nullable` instead. An enumeration must name null beside that. */
export function nullable<T extends TSchema>(schema: T): ReturnType<typeof Type.Unsafe<Static<T> | null>> {
  const values = 'enum' in schema && Array.isArray(schema.enum) && { enum: [...(schema.enum as unknown[]), null] }
  return Type.Unsafe<Static<T> | null>({ ...schema, ...values, nullable: true })
}

const ErrorBody = Type.Object(
  { error: Type.String({ description: 'What went wrong and what to do' }), error_code: Type.String() },
  { title: 'Error', additionalProperties: true },
)

export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, UTC, milliseconds' })

export const instanceNameRule =
  'an instance name: a letter or digit, then up to 63 letters, digits, dots, dashes or underscores; not "bulk"'

export const InstanceName = Type.String({ pattern: instanceNamePattern, description: instanceNameRule })

export const OwnerTag = Type.String({
  pattern: ownerTagPattern,
  description: 'an owner tag: 1 to 128 printable characters',
})

export const InstanceParams = Type.Object({ name: InstanceName })

export const OwnerTagParams = Type.Object({ owner_tag: OwnerTag })

export function toTimestamp(at: number): string {
  return new Date(at).toISOString()
}

/**
 * The responses that a route declares: its own, typed, and the error object for each other status that its handler gives.
 * The statuses that any route may give are added in the OpenAPI document.
 */
export function responses<const Own extends Record<number, TSchema>>(own: Own, ...errors: readonly number[]): Own {
  return { ...own, ...errorResponses(errors) }
}

export function errorResponses(statuses: readonly number[]): Record<number, TSchema> {
  return Object.fromEntries(statuses.map((status) => [status, ErrorBody]))
}
