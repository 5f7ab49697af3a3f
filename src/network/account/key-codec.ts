// Encodes each kind of key for storage: bytes as they are, the rest as JSON.

import { BufferJSON, proto } from '../library/library.ts'

type Codec = { encode: (value: unknown) => Uint8Array; decode: (bytes: Uint8Array) => unknown }

const raw: Codec = {
  encode: (value) => Buffer.from(value as Uint8Array),
  // A copy, because the library changes the value that it is given.
  decode: (bytes) => Buffer.from(bytes),
}

const json: Codec = {
  encode: (value) => Buffer.from(JSON.stringify(value)),
  decode: (bytes) => JSON.parse(textOf(bytes)) as unknown,
}

// The sessions of all accounts that were used last, already parsed: parsing is slow, and a chat in use needs its session
// again soon. A session that is read is not kept any more, so its reader may change it.
const sessionsRemembered = 1_000
const largestRemembered = 16_384
const sessions = new Map<Uint8Array, unknown>()

const session: Codec = {
  encode: (value) => {
    const bytes = json.encode(value)
    if (bytes.byteLength <= largestRemembered) remember(sessions, sessionsRemembered, bytes, value)
    return bytes
  },
  decode: (bytes) => {
    const value = sessions.get(bytes)
    // The session is about to be replaced. Its old versions must not pile up.
    sessions.delete(bytes)
    return value ?? json.decode(bytes)
  },
}

const jsonWithBytes: Codec = {
  encode: (value) => Buffer.from(JSON.stringify(value, BufferJSON.replacer)),
  decode: (bytes) => JSON.parse(textOf(bytes), BufferJSON.reviver) as unknown,
}

// The values that were read last, already parsed, of kinds that neither the library nor the service changes in place. Every
// message reads those of its recipient.
const valuesRemembered = 1024
const values = new Map<Uint8Array, unknown>()

function parsedOnce({ encode, decode }: Codec): Codec {
  return {
    encode,
    decode: (bytes) => {
      const known = values.get(bytes)
      if (known !== undefined) return known
      const value = decode(bytes)
      remember(values, valuesRemembered, bytes, value)
      return value
    },
  }
}

/** The oldest entry goes first. */
function remember(entries: Map<Uint8Array, unknown>, max: number, bytes: Uint8Array, value: unknown): void {
  entries.set(bytes, value)
  const [oldest] = entries.keys()
  if (entries.size > max && oldest) entries.delete(oldest)
}

const codecs: Record<string, Codec> = {
  'sender-key': raw,
  'identity-key': raw,
  session,
  'lid-mapping': parsedOnce(json),
  'device-list': json,
  'sender-key-memory': json,
  'user-devices': parsedOnce(json),
  tctoken: parsedOnce(jsonWithBytes),
  addressing: json,
  'label-version': json,
  'identity-mark': json,
  'app-state-sync-key': {
    encode: (value) => jsonWithBytes.encode(value),
    decode: (bytes) => proto.Message.AppStateSyncKeyData.fromObject(jsonWithBytes.decode(bytes) as object),
  },
}

export function encodeKey(kind: string, value: unknown): Uint8Array {
  return (codecs[kind] ?? jsonWithBytes).encode(value)
}

export function decodeKey(kind: string, bytes: Uint8Array): unknown {
  return (codecs[kind] ?? jsonWithBytes).decode(bytes)
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}
