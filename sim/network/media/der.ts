// Writes the few ASN.1 DER shapes that a certificate needs.
export function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  if (content.length < 128) return Buffer.concat([Buffer.from([tag, content.length]), content])
  const length = Buffer.from(content.length.toString(16).padStart(content.length > 255 ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content])
}

export const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts)
export const set = (...parts: Uint8Array[]): Buffer => der(0x31, ...parts)
export const octets = (content: Uint8Array): Buffer => der(0x04, content)
export const bits = (content: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.from([unused]), content)
export const text = (value: string): Buffer => der(0x0c, Buffer.from(value))
export const yes = (): Buffer => der(0x01, Buffer.from([0xff]))
/** A field that a reader identifies by its number, not by its type. */
export const numbered = (number: number, ...parts: Uint8Array[]): Buffer => der(0xa0 | number, ...parts)

export function integer(value: Uint8Array): Buffer {
  const positive = (value[0] ?? 0) < 128 ? value : Buffer.concat([Buffer.from([0]), value])
  return der(0x02, positive)
}

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const bytes = [value & 127]
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 127) | 128)
  return bytes
}

/** Writes a two-digit year, which is valid until 2049. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/\D/g, '').slice(2, 14)
  return der(0x17, Buffer.from(`${digits}Z`))
}
