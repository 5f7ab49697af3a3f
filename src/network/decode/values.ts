// Reads small values of protobufs, where any field may be missing.

type Long = { toNumber(): number }

export function numberOf(value: number | Long | null | undefined): number | null {
  if (value == null) return null
  const number = typeof value === 'number' ? value : value.toNumber()
  return Number.isFinite(number) ? number : null
}

/** Null when the text is missing or empty. */
export function textOf(value: string | null | undefined): string | null {
  return value ? value : null
}

export function base64Of(bytes: Uint8Array | null | undefined): string | null {
  if (!bytes || bytes.length === 0) return null
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** The parts that are not empty, one per line. */
export function lines(parts: readonly (string | null | undefined)[]): string {
  return parts.filter((part) => part != null && part !== '').join('\n')
}
