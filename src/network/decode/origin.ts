// Where a stanza comes from: which chat, who, when, as its attributes say.

import { groupJid, lidJid, parseChat, phoneJid } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { Envelope } from '../../core/message.ts'
import type { BinaryNode } from '../library/library.ts'

export type Origin = {
  envelope: Envelope
  /** The chat in the addressing it came in, as receipts and later references need it. */
  chatJid: string
  /** Who wrote it, in a group; in the addressing it came in. */
  participant: string | null
}

type Attributes = BinaryNode['attrs']
type Deps = { own: Person; now: () => number }

/** Undefined for what belongs to no chat: status updates, channels, broadcast lists, bots. */
export function originOf({ attrs }: BinaryNode, { own, now }: Deps): Origin | undefined {
  const { id = '', from = '', participant, recipient, notify } = attrs
  const source = parseChat(plainJid(from))
  if (!source) return undefined
  const common = { id, at: timeOf(attrs, now), pushName: notify ?? null }
  if (source.kind === 'group') {
    const sender = personOf(participant ?? '', attrs['participant_pn'], attrs['participant_lid'])
    if (!sender) return undefined
    const fromMe = isSame(sender, own)
    const envelope = { ...common, chat: source, sender: fromMe ? own : sender, fromMe }
    return addressed(envelope, groupJid(source.id), addressOf(participant ?? ''))
  }
  const fromMe = isSame(source, own)
  const chatJid = fromMe && recipient !== undefined ? recipient : from
  const other = fromMe ? chatOfOwn(attrs) : personOf(from, attrs['sender_pn'], attrs['sender_lid'])
  if (!other) return undefined
  const chat = { kind: 'person' as const, ...other }
  const envelope = { ...common, chat, sender: fromMe ? own : other, fromMe }
  return addressed(envelope, addressOf(chatJid), null)
}

export function addressed(envelope: Envelope, chatJid: string, participant: string | null): Origin {
  return { envelope: { ...envelope, address: { chat: chatJid, participant } }, chatJid, participant }
}

/** Written on the phone to somebody, or by the phone to its own devices. */
function chatOfOwn(attrs: Attributes): Person | undefined {
  const { from = '', recipient } = attrs
  if (recipient === undefined) return personOf(from, attrs['sender_pn'], attrs['sender_lid'])
  const phone = attrs['peer_recipient_pn'] ?? attrs['recipient_pn']
  return personOf(recipient, phone, attrs['peer_recipient_lid'] ?? attrs['recipient_lid'])
}

/** The first jid that is a person, completed by the others. */
export function personOf(...jids: (string | null | undefined)[]): Person | undefined {
  const person: Person = { phone: null, lid: null }
  for (const jid of jids) {
    const parsed = jid ? parseChat(plainJid(jid)) : undefined
    if (parsed?.kind !== 'person') continue
    person.phone ??= parsed.phone
    person.lid ??= parsed.lid
  }
  return person.phone === null && person.lid === null ? undefined : person
}

export function isSame(one: Person, other: Person): boolean {
  return (one.phone !== null && one.phone === other.phone) || (one.lid !== null && one.lid === other.lid)
}

/** The jid without its device. */
export function addressOf(jid: string): string {
  const chat = parseChat(plainJid(jid))
  if (!chat) return jid
  if (chat.kind === 'group') return groupJid(chat.id)
  return chat.lid === null ? phoneJid(chat.phone ?? '') : lidJid(chat.lid)
}

/** Accounts hosted by a provider have domains of their own and are the same people. */
function plainJid(jid: string): string {
  return jid.replace(/@hosted\.lid$/, '@lid').replace(/@hosted$/, '@s.whatsapp.net')
}

export function timeOf({ t }: Attributes, now: () => number): number {
  const seconds = Number(t)
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1000 : now()
}
