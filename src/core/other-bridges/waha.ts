// What WAHA writes into a Chatwoot inbox. The decision 030 says where each fact is from.

import type { Chat } from '../address.ts'
import { chatOfPhone, isAddressOf, parseAddress } from './bridge-contact.ts'
import type { BridgeContact, BridgeForms, Recognition } from './bridge-contact.ts'

/** The address of the contact under which it reports to agents and takes commands. */
const ownAddress = 'whatsapp.integration'
/** What it writes behind the name of a group, in each of its languages. */
const groupWords = new Set([
  ...['Group', 'Grupo', 'Gruppe', 'Groupe', 'Gruppo', 'Grup', 'Группа', 'Група', '群组', 'مجموعة', 'گروه', 'گروپ'],
  ...['קבוצה', 'समूह', 'গ্রুপ', 'ਗਰੁੱਪ'],
])

export const waha: BridgeForms = {
  recognise,
  hasMessageIds: false,
  messageIdOf: () => null,
  isOwnName: (name, chat) => isAddressOf(name, chat) || (chat.kind === 'group' && endsWithGroupWord(name)),
}

function endsWithGroupWord(name: string): boolean {
  const at = name.lastIndexOf(' (')
  return at >= 0 && name.endsWith(')') && groupWords.has(name.slice(at + 2, -1))
}

function recognise(contact: BridgeContact): Recognition {
  const { identifier, attributes } = contact
  const chatAddress = attributes['waha_whatsapp_chat_id']
  if (identifier === ownAddress || chatAddress === ownAddress) return { kind: 'own' }
  const marked = markedChat(contact)
  if (marked) return { kind: 'chat', chat: marked, isMarked: true }
  // Channels, the status and broadcast lists have an address, but no person answers there.
  const hasAddress = typeof chatAddress === 'string' || identifier?.includes('@') === true
  const numbered = hasAddress ? undefined : chatOfPhone(contact)
  return numbered ? { kind: 'chat', chat: numbered, isMarked: false } : { kind: 'other' }
}

/** The attributes hold the address that wrote last, and beside it the phone number and the anonymous id that belong together. */
function markedChat({ identifier, attributes }: BridgeContact): Chat | undefined {
  const written = ['waha_whatsapp_chat_id', 'waha_whatsapp_jid', 'waha_whatsapp_lid'].map((key) => attributes[key])
  const chats = [...written, identifier].flatMap((address) => parseAddress(address) ?? [])
  const group = chats.find(({ kind }) => kind === 'group')
  if (group) return group
  const people = chats.flatMap((chat) => (chat.kind === 'person' ? [chat] : []))
  if (people.length === 0) return undefined
  const phone = people.find((each) => each.phone !== null)?.phone ?? null
  const lid = people.find((each) => each.lid !== null)?.lid ?? null
  return { kind: 'person', phone, lid }
}
