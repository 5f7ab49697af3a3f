// Reads chat, sender and time from the attributes of a stanza.

import { groupJid, lidJid, parseChat, phoneJid } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import type { Envelope } from '../../core/message.ts'
import type { BinaryNode } from '../library/library.ts'

export type Origin = {
  envelope: Envelope
  /** The chat as the stanza addresses it. Receipts and later references must use the same form. */
  chatJid: Jid
  /** The author in a group, as the stanza addresses them. */
  participant: Jid | null
}

type Attributes = BinaryNode['attrs']
type Deps = { own: Person; now: () => number }

/** Undefined for stanzas that belong to no chat: status updates, channels, broadcast lists, bots. */
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

export function addressed(envelope: Envelope, chatJid: Jid, participant: Jid | null): Origin {
  return { envelope: { ...envelope, address: { chat: chatJid, participant } }, chatJid, participant }
}

/** One name for a chat, whichever device wrote the message and whichever address of a person the stanza has, if it has both. */
export function chatNameOf({ attrs }: BinaryNode): Jid {
  const { from = '', recipient } = attrs
  const person = recipient === undefined ? personOf(from, attrs['sender_pn'], attrs['sender_lid']) : chatOfOwn(attrs)
  if (!person) return from
  return person.lid === null ? phoneJid(person.phone ?? '') : lidJid(person.lid)
}

/** The chat of a message from the owner: the recipient, or the owner's own chat. */
function chatOfOwn(attrs: Attributes): Person | undefined {
  const { from = '', recipient } = attrs
  if (recipient === undefined) return personOf(from, attrs['sender_pn'], attrs['sender_lid'])
  const phone = attrs['peer_recipient_pn'] ?? attrs['recipient_pn']
  return personOf(recipient, phone, attrs['peer_recipient_lid'] ?? attrs['recipient_lid'])
}

/** One person out of several jids: the first phone and the first LID among them. */
export function personOf(...jids: (Jid | null | undefined)[]): Person | undefined {
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
export function addressOf(jid: Jid): Jid {
  const chat = parseChat(plainJid(jid))
  if (!chat) return jid
  if (chat.kind === 'group') return groupJid(chat.id)
  return chat.lid === null ? phoneJid(chat.phone ?? '') : lidJid(chat.lid)
}

/** Accounts that a provider hosts have domains of their own but are the same people. */
export function plainJid(jid: Jid): Jid {
  if (!jid.includes('@hosted')) return jid
  return jid.replace(/@hosted\.lid$/, '@lid').replace(/@hosted$/, '@s.whatsapp.net')
}

export function timeOf({ t }: Attributes, now: () => number): number {
  const seconds = Number(t)
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1000 : now()
}
