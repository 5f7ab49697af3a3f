// Computes the reporting token that belongs to a message. It follows the facts of the protocol and shares no code with clients.
import { proto } from '../library.ts'
import type { User } from '../server/user.ts'
import { ObjectMemo } from '../signal/memo.ts'
import { derive, hmac } from '../signal/primitives.ts'
import { isGroupJid, isLidJid, withoutDevice } from '../wire/jid.ts'
import { bytesOf, child } from '../wire/stanza.ts'
import type { ReceivedMessage } from './received-message.ts'

type Sent = { id: string; sender: string; chat: string; message: proto.IMessage }
type Part = { number: number; bytes: Buffer }

/** The fields that the token covers, as paths of field numbers. A star means: a message, with these same paths. */
const COVERED = new Set(
  [
    '1',
    '3.2 3.3 3.8 3.11 3.17.21 3.17.22 3.25',
    '4.1 4.16 4.17.21 4.17.22',
    '5.3 5.4 5.5 5.16 5.17.21 5.17.22',
    '6.1 6.17.21 6.17.22 6.30',
    '7.2 7.7 7.10 7.17.21 7.17.22 7.20',
    '8.2 8.7 8.9 8.17.21 8.17.22 8.21',
    '9.2 9.6 9.7 9.13 9.17.21 9.17.22 9.20',
    '12.1 12.2 12.14.* 12.15',
    '18.6 18.16 18.17.21 18.17.22',
    '26.4 26.5 26.8 26.13 26.17.21 26.17.22',
    '28.1 28.2 28.4 28.5 28.6 28.7.21 28.7.22',
    ...[49, 60, 64].map(
      (poll) => `${poll}.2 ${poll}.3.1 ${poll}.3.2 ${poll}.5.21 ${poll}.5.22 ${poll}.8.1 ${poll}.8.2`,
    ),
    '66.2 66.6 66.7 66.13 66.17.21 66.17.22 66.20',
    '88.1 88.2.1 88.3.21 88.3.22',
    ...[37, 53, 55, 58, 59, 74, 87, 92, 93, 94].map((wrapper) => `${wrapper}.1.*`),
  ].flatMap((line) => line.split(' ')),
)
/** Every beginning of a covered path. */
const ENTERED = new Set([...COVERED].flatMap((path) => path.split('.').map((_, at, all) => all.slice(0, at).join('.'))))

/** The tokens of a message by what else they depend on. Members of a group share the message. */
const tokens = new ObjectMemo<proto.IMessage, Map<string, Buffer | undefined>>()

/** Undefined for a message that needs no token. */
export function reportingTokenOf({ id, sender, chat, message }: Sent): Buffer | undefined {
  const secret = message.messageContextInfo?.messageSecret
  if (!secret) return undefined
  const known = tokens.get(message, () => new Map<string, Buffer | undefined>())
  const info = `${id}${sender}${chat}Report Token`
  if (!known.has(info)) known.set(info, tokenOf(message, secret, info))
  return known.get(info)
}

function tokenOf(message: proto.IMessage, secret: Uint8Array, info: string): Buffer | undefined {
  const covered = coveredBytes(Buffer.from(proto.Message.encode(message).finish()), [])
  if (covered.length === 0) return undefined
  return hmac(derive(secret, Buffer.alloc(0), info, 32), covered).subarray(0, 16)
}

/** What is wrong with the token of a message that this user received, or undefined. A message may have no token. */
export function faultOfToken({ id, own, message, stanza }: ReceivedMessage, reader: User): string | undefined {
  const token = bytesOf(child(child(stanza, 'reporting'), 'reporting_token'))
  if (!token || own) return undefined
  const { from = '', participant } = stanza.attrs
  const chat = isGroupJid(from) ? from : reader.jid(isLidJid(from) ? 'lid' : 'pn')
  const expected = reportingTokenOf({ id, sender: withoutDevice(participant ?? from), chat, message })
  return expected?.equals(token) ? undefined : `the reporting token of message ${id} is not the one of its sender`
}

function coveredBytes(bytes: Buffer, above: readonly number[]): Buffer {
  const parts: Part[] = []
  for (let at = 0; at < bytes.length;) {
    const start = at
    const [key, afterKey] = varint(bytes, at)
    const number = key >>> 3
    const path = [...above, number]
    const [length, body] = (key & 7) === 2 ? varint(bytes, afterKey) : [undefined, afterKey]
    at = length === undefined ? endOfNumber(bytes, body, key & 7) : body + length
    const name = path.join('.')
    if (COVERED.has(name)) parts.push({ number, bytes: bytes.subarray(start, at) })
    else if (ENTERED.has(name)) {
      const inner = coveredBytes(bytes.subarray(body, at), COVERED.has(`${name}.*`) ? [] : path)
      const head = [bytes.subarray(start, afterKey), writeVarint(inner.length)]
      if (inner.length > 0) parts.push({ number, bytes: Buffer.concat([...head, inner]) })
    }
  }
  return Buffer.concat(parts.toSorted((one, other) => one.number - other.number).map((part) => part.bytes))
}

function endOfNumber(bytes: Buffer, at: number, wireType: number): number {
  if (wireType === 1) return at + 8
  return wireType === 5 ? at + 4 : varint(bytes, at)[1]
}

/** The number and the position after it. */
function varint(bytes: Buffer, start: number): [value: number, end: number] {
  let value = 0
  for (let at = start, factor = 1; ; at += 1, factor *= 128) {
    const byte = bytes.readUInt8(at)
    value += (byte & 127) * factor
    if (byte < 128) return [value, at + 1]
  }
}

function writeVarint(value: number): Buffer {
  return value < 128
    ? Buffer.of(value)
    : Buffer.concat([Buffer.of((value % 128) + 128), writeVarint(Math.floor(value / 128))])
}
