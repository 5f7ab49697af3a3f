// Reads the receipts of one stanza: what became of which messages, and who says so.

import { parseChat } from '../../core/address.ts'
import type { Chat, Person } from '../../core/address.ts'
import type { NetworkMessageId } from '../../core/ids.ts'
import type { Receipt, ReceiptType } from '../../core/realtime.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf, childrenOf } from '../library/nodes.ts'
import { cleanId } from './clean.ts'
import { isSame, personOf, plainJid, timeOf } from './origin.ts'

type Deps = { own: Person; now: () => number }

/** The types of the network. A receipt without a type says that a device has the message. */
const types: Readonly<Record<string, ReceiptType>> = {
  '': 'delivered',
  inactive: 'delivered',
  read: 'read',
  played: 'played',
  'read-self': 'read_self',
}

/** Requests to send a message again. They are no receipts, and only the library answers them. */
const requests = new Set(['retry', 'enc_rekey_retry'])

/** Undefined for requests, and for receipts of a status, a channel or a broadcast list. */
export function receiptsOf(stanza: BinaryNode, { own, now }: Deps): Receipt[] | undefined {
  const { attrs } = stanza
  const { type = '', from = '', participant } = attrs
  const source = parseChat(plainJid(from))
  if (!source || requests.has(type)) return undefined
  const named = types[type] ?? 'other'
  const at = timeOf(attrs, now)
  const collected = childrenOf(stanza, 'participants')
  if (collected.length > 0)
    return collected.flatMap((each) => collectedReceipts(each, { type: named, chat: source, own, at }))
  const who =
    source.kind === 'group' ? personOf(participant, attrs['participant_pn'], attrs['participant_lid']) : partner(attrs)
  const isOwn = who !== undefined && isSame(who, own)
  const chat = isOwn && source.kind === 'person' ? recipientOf(attrs) : completed(source, who)
  if (!chat) return undefined
  return [{ type: typeFrom(named, isOwn), chat, from: who ?? null, ids: idsOf(stanza), at }]
}

/** The network collects the receipts of many members of a group: one list of members for each message. */
function collectedReceipts(
  list: BinaryNode,
  { type, chat, own, at }: { type: ReceiptType; chat: Chat; own: Person; at: number },
): Receipt[] {
  const id = cleanId(list.attrs['key'] ?? '')
  return childrenOf(list, 'user').flatMap((user) => {
    const from = personOf(user.attrs['jid'])
    if (!from || id === '') return []
    return [{ type: typeFrom(type, isSame(from, own)), chat, from, ids: [id], at: timeOf(user.attrs, () => at) }]
  })
}

/** What the owner's other devices got or read says nothing about the recipient. */
function typeFrom(type: ReceiptType, isOwn: boolean): ReceiptType {
  return isOwn && type !== 'read_self' ? 'other' : type
}

function partner(attrs: BinaryNode['attrs']): Person | undefined {
  return personOf(attrs['from'], attrs['sender_pn'], attrs['sender_lid'])
}

/** The other person of the chat that the owner has read. */
function recipientOf(attrs: BinaryNode['attrs']): Chat | undefined {
  const phone = attrs['peer_recipient_pn'] ?? attrs['recipient_pn']
  const chat = parseChat(plainJid(attrs['recipient'] ?? ''))
  return chat && completed(chat, personOf(attrs['recipient'], phone, attrs['recipient_lid']))
}

function completed(chat: Chat, person: Person | undefined): Chat {
  return chat.kind === 'person' && person ? { kind: 'person', ...person } : chat
}

function idsOf(stanza: BinaryNode): NetworkMessageId[] {
  const list = childOf(stanza, 'list')
  const more = list ? childrenOf(list, 'item').map(({ attrs }) => attrs['id'] ?? '') : []
  return [...new Set([stanza.attrs['id'] ?? '', ...more].map(cleanId))].filter((id) => id !== '')
}
