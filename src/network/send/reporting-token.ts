// Computes the reporting token of a message: with it the network can check that a reported message is the one that was sent.
//
// The token is a MAC over some fields of the message. Its key comes from the secret of the message, the message id, the
// address of the sender and the address of the chat. The library takes the chat for the sender, so its tokens are wrong, and
// it leaves out messages inside messages. Sources of the facts: whatsmeow `reportingtoken.go`, zapo `reporting-token.ts`,
// whatsapp-rust `reporting_token.rs`.

import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import { macOf } from '../account/message-keys.ts'
import { jidNormalizedUser } from '../library/library.ts'
import type { BinaryNode, proto } from '../library/library.ts'
import { encodeVarint, wireFields } from '../library/wire-fields.ts'

/** `whole` takes the field as it is. `message` is a message inside the message. A map takes some fields of the field. */
type Rule = 'whole' | 'message' | Rules
type Rules = ReadonlyMap<number, Rule>
type Envelope = { id: NetworkMessageId; sender: Jid; chat: Jid }

const version = '2'
const tokenBytes = 16
const noSalt = Buffer.alloc(32)

/** Whether the message was forwarded, and how often. */
const context = rulesOf([21, 22])
/** The kinds of messages that the service sends. Any other kind has no token. */
const rules: Rules = rulesOf(
  [1],
  [3, rulesOf([2, 3, 8, 11, 25], [17, context])], // image
  [6, rulesOf([1, 30], [17, context])], // text with a context
  [7, rulesOf([2, 7, 10, 20], [17, context])], // document
  [8, rulesOf([2, 7, 9, 21], [17, context])], // audio
  [9, rulesOf([2, 6, 7, 13, 20], [17, context])], // video
  [12, rulesOf([1, 2, 15], [14, 'message'])], // edit or revoke
  [26, rulesOf([4, 5, 8, 13], [17, context])], // sticker
  [28, rulesOf([1, 2, 4, 5, 6], [7, context])], // invitation to a group
  [53, rulesOf([], [1, 'message'])], // document with a caption
)

/** Empty for a message without a secret and for a message of which no field counts. `encoded` is the message as it is sealed. */
export function reportingToken(
  message: proto.IMessage,
  encoded: Uint8Array,
  { id, sender, chat }: Envelope,
): BinaryNode[] {
  const secret = message.messageContextInfo?.messageSecret
  if (!secret) return []
  const content = reported(encoded, rules)
  if (content.length === 0) return []
  const info = `${id}${jidNormalizedUser(sender)}${jidNormalizedUser(chat)}Report Token`
  const token = macOf(keyOf(secret, info), content).subarray(0, tokenBytes)
  return [{ tag: 'reporting', attrs: {}, content: [{ tag: 'reporting_token', attrs: { v: version }, content: token }] }]
}

/** HKDF (RFC 5869) without a salt, for a key of one block. Node's own function takes several times as long. */
function keyOf(secret: Uint8Array, info: string): Buffer {
  return macOf(macOf(noSalt, secret), Buffer.from(`${info}\u0001`))
}

/** The fields that count, in the order of their numbers. */
function reported(bytes: Uint8Array, taken: Rules): Buffer {
  const parts: { number: number; bytes: Uint8Array }[] = []
  for (const { number, key, whole, value } of wireFields(bytes)) {
    const rule = taken.get(number)
    if (rule === undefined) continue
    if (rule === 'whole' || value === undefined) {
      parts.push({ number, bytes: whole })
      continue
    }
    const inner = reported(value, rule === 'message' ? rules : rule)
    if (inner.length === 0) continue
    parts.push({ number, bytes: Buffer.concat([encodeVarint(key), encodeVarint(inner.length), inner]) })
  }
  return Buffer.concat(parts.sort((a, b) => a.number - b.number).map((part) => part.bytes))
}

function rulesOf(whole: readonly number[], ...others: readonly [number, Rule][]): Rules {
  return new Map<number, Rule>([...whole.map((number) => [number, 'whole'] as const), ...others])
}
