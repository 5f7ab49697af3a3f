// What go-whatsapp-web-multidevice (gowa) writes into a Chatwoot inbox. The decision 030 says where each fact is from.

import type { Chat } from '../address.ts'
import { chatOfPhone, isAddressOf, parseAddress, readWaid } from './bridge-contact.ts'
import type { BridgeContact, BridgeForms, Recognition } from './bridge-contact.ts'

export const gowa: BridgeForms = {
  recognise,
  hasMessageIds: true,
  messageIdOf: readWaid,
  // It overwrites the name of a group whenever the name on WhatsApp differs, so no agent's name of a group lasts.
  isOwnName: (name, chat) => chat.kind === 'group' || isAddressOf(name, chat),
}

function recognise(contact: BridgeContact): Recognition {
  const { identifier, attributes, sourceIds } = contact
  // Earlier versions used the attribute of WAHA.
  const attribute = attributes['gowa_whatsapp_jid'] ?? attributes['waha_whatsapp_jid']
  const addresses = [attribute, identifier, ...sourceIds].flatMap((address) => parseAddress(address) ?? [])
  const chat = addresses[0] ?? bareNumber(attribute)
  if (chat) return { kind: 'chat', chat, isMarked: true }
  const numbered = identifier?.includes('@') ? undefined : chatOfPhone(contact)
  return numbered ? { kind: 'chat', chat: numbered, isMarked: false } : { kind: 'other' }
}

/** Contacts of messages that came live have the digits of the phone number, without a domain. */
function bareNumber(address: unknown): Chat | undefined {
  return typeof address === 'string' ? chatOfPhone({ phone: `+${address}` }) : undefined
}
