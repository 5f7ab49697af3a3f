// Reads the fields of an encoded protobuf without knowing its schema: the library's schema lacks some fields.

/** `whole` is the field as it is encoded, with its key. `value` is undefined for a number. */
export type WireField = { number: number; key: number; whole: Uint8Array; value: Uint8Array | undefined }

const varint = 0
const eightBytes = 1
const lengthDelimited = 2
const fourBytes = 5

/** Stops at the first field that cannot be read. */
export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  let at = 0
  while (at < bytes.length) {
    const key = readVarint(bytes, at)
    if (!key) return
    const body = bodyOf(bytes, key.end, key.value % 8)
    if (!body || body.end > bytes.length) return
    const value = body.start === undefined ? undefined : bytes.subarray(body.start, body.end)
    yield { number: Math.floor(key.value / 8), key: key.value, whole: bytes.subarray(at, body.end), value }
    at = body.end
  }
}

export function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Uint8Array.from([...bytes, rest])
}

function bodyOf(bytes: Uint8Array, at: number, type: number): { start?: number; end: number } | undefined {
  if (type === eightBytes) return { end: at + 8 }
  if (type === fourBytes) return { end: at + 4 }
  if (type !== varint && type !== lengthDelimited) return undefined
  const number = readVarint(bytes, at)
  if (!number || type === varint) return number
  return { start: number.end, end: number.end + number.value }
}

/** Undefined when the bytes end inside the number. */
function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } | undefined {
  let value = 0
  let factor = 1
  for (let at = start; at < Math.min(bytes.length, start + 10); at += 1) {
    const byte = bytes[at] ?? 0
    value += (byte % 128) * factor
    factor *= 128
    if (byte < 128) return { value, end: at + 1 }
  }
  return undefined
}
