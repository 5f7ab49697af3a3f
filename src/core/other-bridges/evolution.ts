// What Evolution API writes into a Chatwoot inbox. The decision 030 says where each fact is from.

import type { Chat } from '../address.ts'
import { chatOfPhone, isAddressOf, parseAddress, readWaid } from './bridge-contact.ts'
import type { BridgeContact, BridgeForms, Recognition } from './bridge-contact.ts'

/** The number of the contact under which it shows the QR code and takes commands. */
const ownPhone = '+123456'

export const evolution: BridgeForms = {
  recognise,
  hasMessageIds: true,
  messageIdOf: readWaid,
  isOwnName: (name, chat) => (chat.kind === 'group' ? name.endsWith(' (GROUP)') : isAddressOf(name, chat)),
}

function recognise(contact: BridgeContact): Recognition {
  const { identifier, phone } = contact
  if (phone === ownPhone || identifier === ownPhone.slice(1)) return { kind: 'own' }
  // The identifier is the address of the chat on the network. For an anonymous id, the phone number is made of the same digits.
  const named = parseAddress(identifier)
  if (named) return { kind: 'chat', chat: named, isMarked: true }
  const numbered: Chat | undefined = identifier?.includes('@') ? undefined : chatOfPhone(contact)
  return numbered ? { kind: 'chat', chat: numbered, isMarked: false } : { kind: 'other' }
}
