// Turns one message of a history into the events of the service, with the decoders of live messages.

import type { Person } from '../../core/address.ts'
import type { Anchor, PastEvent } from '../../core/history/past-events.ts'
import type { Jid } from '../../core/ids.ts'
import type { EditEvent, NetworkEvent } from '../../core/message.ts'
import { decodeEvent } from '../decode/event.ts'
import { originOfInfo } from '../decode/info-origin.ts'
import type { Origin } from '../decode/origin.ts'
import { base64Of, numberOf } from '../decode/values.ts'
import { proto } from '../library/library.ts'
import { wireFields } from '../library/wire-fields.ts'
import { pastReactions } from './past-reactions.ts'

export type PastContext = {
  /** The address under which the phone keeps the chat. */
  chatJid: Jid
  /** How many messages of the chat came before this one. The phone sends the newest message first. */
  index: number
  /** Messages before this time are left out. */
  since: number
  own: Person
}

/** `anchor` is the message itself, if the phone can be asked for those before it. */
export type PastMessage = { events: PastEvent[]; anchor: Anchor | null }

const { StubType } = proto.WebMessageInfo
const noStub: number = StubType.UNKNOWN
const revokeStub: number = StubType.REVOKE
/** Fields of a HistorySyncMsg. */
const infoField = 1
const orderField = 2
/** Fields of a WebMessageInfo. */
const keyField = 1
const timeField = 3
const participantField = 5
const stubField = 24
/** Kinds of events that tell agents nothing about the past. */
const noise = new Set<NetworkEvent['kind']>(['group', 'call', 'undecryptable'])
const nothing: PastMessage = { events: [], anchor: null }

/** Never throws. A message without events is left out. */
export function readPastMessage(bytes: Uint8Array, context: PastContext): PastMessage {
  try {
    return read(bytes, context)
  } catch {
    // A field has an unexpected shape.
    return nothing
  }
}

/** The chat that the message itself names. */
export function chatNamedIn(bytes: Uint8Array): Jid {
  try {
    const { encoded = new Uint8Array() } = outerFields(bytes)
    for (const { number, value } of wireFields(encoded)) {
      if (number === keyField && value) return proto.MessageKey.decode(value).remoteJid ?? ''
    }
  } catch {
    // The key cannot be read.
  }
  return ''
}

function read(bytes: Uint8Array, { chatJid, index, since, own }: PastContext): PastMessage {
  const { encoded, order } = outerFields(bytes)
  const brief = encoded && briefOf(encoded, chatJid, own)
  if (!brief) return nothing
  const { anchor, stub } = brief
  // The phone writes other stubs itself, for example that a member has joined.
  if (stub !== noStub && stub !== revokeStub) return nothing
  if (anchor.at < since) return { events: [], anchor }
  const info = proto.WebMessageInfo.decode(encoded)
  if (info.key) info.key.remoteJid = chatJid
  const position = order ?? -index
  return { events: eventsOf(info, own).map((event) => ({ event, position })), anchor }
}

function outerFields(bytes: Uint8Array): { encoded?: Uint8Array; order?: number } {
  const found: { encoded?: Uint8Array; order?: number } = {}
  for (const { number, value, amount } of wireFields(bytes)) {
    if (number === infoField && value) found.encoded = value
    // The phone counts with 64 bits. A number that is too large for us is not used.
    else if (number === orderField && amount !== undefined && Number.isSafeInteger(amount)) found.order = amount
  }
  return found
}

/** Reads key, time and stub alone. Most messages of a long history are too old, and decoding them all would take long. */
function briefOf(encoded: Uint8Array, chatJid: Jid, own: Person): { anchor: Anchor; stub: number } | undefined {
  let key: proto.IMessageKey = {}
  let participant: string | null = null
  let [messageTimestamp, stub] = [0, 0]
  for (const { number, value, amount = 0 } of wireFields(encoded)) {
    if (number === keyField && value) key = proto.MessageKey.decode(value)
    else if (number === participantField && value) participant = Buffer.from(value).toString()
    else if (number === timeField) messageTimestamp = amount
    else if (number === stubField) stub = amount
  }
  const origin = originOfInfo({ key: { ...key, remoteJid: chatJid }, participant, messageTimestamp }, own)
  if (!origin || messageTimestamp <= 0 || messageTimestamp > latestSeconds) return undefined
  const { id, fromMe, at } = origin.envelope
  return { anchor: { key: { chat: chatJid, id, fromMe, participant: origin.participant }, at }, stub }
}

/** The end of the year 9999. */
const latestSeconds = 253_402_300_799

function eventsOf(info: proto.WebMessageInfo, own: Person): NetworkEvent[] {
  const origin = originOfInfo(info, own)
  if (!origin) return []
  if (info.messageStubType === StubType.REVOKE) return [revokeOf(info, origin)]
  const event = info.message && mainEvent(info, info.message, origin, own)
  return event ? [event, ...pastReactions(info, origin, own)] : []
}

/** The phone keeps only the place of a deleted message. */
function revokeOf(
  { revokeMessageTimestamp }: proto.IWebMessageInfo,
  { envelope, chatJid, participant }: Origin,
): NetworkEvent {
  const { id, fromMe, at } = envelope
  const revokedAt = numberOf(revokeMessageTimestamp) ?? 0
  const target = { chat: chatJid, id, fromMe, participant }
  return { ...envelope, at: Math.max(at, revokedAt * 1000), kind: 'revoke', target }
}

function mainEvent(
  info: proto.IWebMessageInfo,
  message: proto.IMessage,
  origin: Origin,
  own: Person,
): NetworkEvent | undefined {
  const decoded = decodeEvent({ message, unknownField: undefined }, { origin, own })
  if (!decoded || !('event' in decoded) || noise.has(decoded.event.kind)) return undefined
  const { event } = decoded
  if (event.kind === 'message') return { ...event, secret: event.secret ?? base64Of(info.messageSecret) }
  if (event.kind !== 'edit' && event.kind !== 'revoke') return event
  const isOfPerson = event.chat.kind === 'person'
  // In a chat of two only the author can edit or delete. The phone may describe the target from its own view.
  const target = isOfPerson ? { ...event.target, fromMe: event.fromMe } : event.target
  return event.kind === 'edit' && target.id === event.id ? editedMessage(event, info) : { ...event, target }
}

/** An edit of itself is how the phone describes a message that was edited. */
function editedMessage({ content, mentions, ...rest }: EditEvent, info: proto.IWebMessageInfo): NetworkEvent {
  const { id, at, chat, sender, fromMe, pushName, address } = rest
  const envelope = { id, at, chat, sender, fromMe, pushName, ...(address && { address }) }
  return {
    ...envelope,
    kind: 'message',
    content,
    mentions,
    quote: null,
    ad: null,
    secret: base64Of(info.messageSecret),
  }
}
