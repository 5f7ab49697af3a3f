// The small schemas that all other schemas use.

import { Type } from 'typebox'
import type { TObject, TProperties, TSchema, TUnion, TNull } from 'typebox'
import type { UploadedFile } from '../desk/uploaded-file.ts'

export function nullable<T extends TSchema>(schema: T): TUnion<[T, TNull]> {
  return Type.Union([schema, Type.Null()])
}

/** An object with known keys only. An unknown key is a mistake of the client or of the simulator. */
export function exact<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: false })
}

export const Attributes = Type.Record(Type.String(), Type.Unknown())
export const UnixSeconds = Type.Integer({ minimum: 0 })
export const IsoTime = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' })
export const NullableString = nullable(Type.String())

/** Form fields are strings; JSON has booleans. */
export const Flag = Type.Union([Type.Boolean(), Type.Literal('true'), Type.Literal('false')])
/** A number in a query string. */
export const Digits = Type.String({ pattern: '^\\d+$' })
export const Id = Type.Integer({ minimum: 1 })
export const FormId = Type.Union([Id, Type.String({ pattern: '^[1-9]\\d*$' })])
export const Upload = Type.Unsafe<UploadedFile>({ type: 'object', required: ['filename', 'contentType', 'bytes'] })
/** A form may carry nested values as JSON text. */
export const FormAttributes = Type.Union([Attributes, Type.String()])

export const Nothing = Type.Null()
export const ErrorBody = exact({ error: Type.String() })
export const InvalidBody = exact({ message: Type.String(), attributes: Type.Array(Type.String()) })

export function isTrue(flag: boolean | 'true' | 'false'): boolean {
  return flag === true || flag === 'true'
}

export function toAttributes(value: Record<string, unknown> | string): Record<string, unknown> {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value) as Record<string, unknown>
  } catch {
    return {}
  }
}
