// Reads the fields of a JSON payload. The error for a field of a wrong type names the field.

import { BridgeError } from '../core/errors.ts'

/** An object in the payload. Absent and null mean the same. */
export class Payload {
  readonly #path: string
  readonly #fields: Record<string, unknown>

  private constructor(path: string, fields: Record<string, unknown>) {
    this.#path = path
    this.#fields = fields
  }

  static of(value: unknown): Payload {
    if (!isObject(value)) throw refuse('the body must be a JSON object')
    return new Payload('', value)
  }

  has(name: string): boolean {
    return this.#value(name) !== null
  }

  object(name: string): Payload {
    const value = this.#value(name) ?? {}
    if (!isObject(value)) throw this.#wrong(name, 'an object')
    return new Payload(`${this.#path}${name}.`, value)
  }

  /** The first `most` objects of a list. */
  objects(name: string, most = Infinity): Payload[] {
    const value = this.#value(name) ?? []
    if (!Array.isArray(value)) throw this.#wrong(name, 'a list')
    return value.slice(0, most).map((item: unknown, index) => {
      if (!isObject(item)) throw this.#wrong(`${name}[${index}]`, 'an object')
      return new Payload(`${this.#path}${name}[${index}].`, item)
    })
  }

  text(name: string): string | null {
    const value = this.#value(name)
    if (value !== null && typeof value !== 'string') throw this.#wrong(name, 'a string')
    return value
  }

  /** Null also for an empty text. */
  filledText(name: string): string | null {
    return this.text(name) || null
  }

  requiredText(name: string): string {
    const value = this.filledText(name)
    if (value === null) throw this.#wrong(name, 'a string that is not empty')
    return value
  }

  /** A positive number; null also for 0. */
  id(name: string): number | null {
    const value = this.#value(name) ?? 0
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw this.#wrong(name, 'a positive integer')
    return (value as number) || null
  }

  requiredId(name: string): number {
    const value = this.id(name)
    if (value === null) throw this.#wrong(name, 'a positive integer')
    return value
  }

  flag(name: string): boolean {
    const value = this.#value(name) ?? false
    if (typeof value !== 'boolean') throw this.#wrong(name, 'true or false')
    return value
  }

  /** Milliseconds from Unix seconds or an ISO 8601 text; null when absent, 0 for never. */
  time(name: string): number | null {
    const value = this.#value(name)
    if (value === null) return null
    const at = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value * 1000 : NaN
    if (!Number.isFinite(at) || at < 0) throw this.#wrong(name, 'a time')
    return at
  }

  /** The value as it is, of any type. */
  raw(name: string): unknown {
    return this.#value(name)
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? (this.#fields[name] ?? null) : null
  }

  #wrong(name: string, expected: string): BridgeError {
    return refuse(`${this.#path}${name} must be ${expected}`)
  }
}

function refuse(sentence: string): BridgeError {
  return new BridgeError('SERVICE_BAD_REQUEST', sentence)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
