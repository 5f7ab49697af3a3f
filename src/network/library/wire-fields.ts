// Reads the fields of an encoded protobuf without knowing its schema: the library's schema lacks some fields.

/** `whole` is the field as it is encoded, with its key. `value` is undefined for a number, and `amount` for other fields. */
export type WireField = {
  number: number
  key: number
  whole: Uint8Array
  value: Uint8Array | undefined
  amount: number | undefined
}

/** `bodyLength` counts the bytes of the field behind its key, and behind its length if it has one. */
export type FieldHead = { number: number; wireType: number; headLength: number; bodyLength: number }

const varint = 0
const eightBytes = 1
const lengthDelimited = 2
const fourBytes = 5
const knownTypes = new Set([varint, eightBytes, lengthDelimited, fourBytes])
const longestVarint = 10

/** Stops at the first field that cannot be read. */
export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  let at = 0
  while (at < bytes.length) {
    const key = readVarint(bytes, at)
    if (!key) return
    const body = bodyOf(bytes, key.end, key.value % 8)
    if (!body || body.end > bytes.length) return
    const value = body.start === undefined ? undefined : bytes.subarray(body.start, body.end)
    const whole = bytes.subarray(at, body.end)
    yield { number: Math.floor(key.value / 8), key: key.value, whole, value, amount: body.value }
    at = body.end
  }
}

/** Undefined when the bytes end inside the head. Null when a field cannot begin like this. */
export function fieldHead(bytes: Uint8Array): FieldHead | null | undefined {
  const key = readVarint(bytes, 0)
  if (!key) return bytes.length < longestVarint ? undefined : null
  const [number, wireType] = [Math.floor(key.value / 8), key.value % 8]
  if (number === 0 || !knownTypes.has(wireType)) return null
  const body = bodyOf(bytes, key.end, wireType)
  if (!body) return bytes.length < key.end + longestVarint ? undefined : null
  const headLength = body.start ?? key.end
  return { number, wireType, headLength, bodyLength: body.end - headLength }
}

export function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Uint8Array.from([...bytes, rest])
}

type Body = { start?: number; end: number; value?: number }

function bodyOf(bytes: Uint8Array, at: number, type: number): Body | undefined {
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
  for (let at = start; at < Math.min(bytes.length, start + longestVarint); at += 1) {
    const byte = bytes[at] ?? 0
    value += (byte % 128) * factor
    factor *= 128
    if (byte < 128) return { value, end: at + 1 }
  }
  return undefined
}
