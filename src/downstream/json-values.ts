// Reads values of foreign JSON without trusting their types.

export type Json = Record<string, unknown>

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

export function readList<T>(value: unknown, read: (item: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined
  const items = value.map(read)
  return items.every((item) => item !== undefined) ? items : undefined
}
