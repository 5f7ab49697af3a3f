// Fills a helpdesk inbox as another bridge fills it: contacts, conversations and messages in the forms of its public code. The
// decision 030 names the sources. Fill the inbox before it has a webhook address: Chatwoot calls for every message.

import type { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { UploadedFile } from '../../sim/helpdesk/desk/uploaded-file.ts'
import { groupJid, lidJid, phoneJid } from '../../src/core/address.ts'
import type { OtherBridge } from '../../src/core/other-bridges/other-bridges.ts'

/** A person or a group whom the bridge has brought to the helpdesk. */
export type BridgedChat = {
  /** How the network spells it. */
  phone?: string
  lid?: string
  group?: string
  /** What the bridge knows; without it the contact is named after its address. */
  name?: string
  /** The conversations, oldest first. One open conversation by default. */
  conversations?: readonly BridgedConversation[]
}

export type BridgedConversation = {
  status?: 'open' | 'resolved' | 'pending' | 'snoozed'
  messages?: readonly BridgedMessage[]
}

type BridgedMessage = {
  /** The id on the network. */
  id: string
  text: string
  fromMe?: boolean
  /** The id on the network of the message that this one quotes. */
  quotes?: string
  hasFile?: boolean
  /** An agent wrote it at the helpdesk. */
  byAgent?: boolean
  at?: number
}

/** What the helpdesk has of a chat. */
export type FilledChat = { contactId: number; sourceId: string; conversations: number[]; messages: Map<string, number> }

/** `gowa` made contacts in the spelling of earlier versions with `isEarly`. */
export type FillOptions = { inboxId?: number; isEarly?: boolean }

type Desk = Pick<SimHelpdesk, 'world'>
type Placed = { name: string; phoneNumber?: string; identifier?: string; customAttributes?: Record<string, unknown> }

const picture = new UploadedFile('photo.png', 'image/png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))

/** Adds the chat in the form of the bridge. */
export function fillChat(
  helpdesk: Desk,
  bridge: OtherBridge,
  chat: BridgedChat,
  { inboxId = 1, isEarly = false }: FillOptions = {},
): FilledChat {
  const contact = contactOf(bridge, chat, isEarly)
  const { id: contactId, sourceId } = helpdesk.world.addContact({ ...contact, inboxId })
  const filled: FilledChat = { contactId, sourceId, conversations: [], messages: new Map() }
  // Newer versions of gowa give the address of the chat with each new conversation.
  const address = bridge === 'gowa' && !isEarly ? { sourceId: jidOf(chat) } : {}
  for (const { status = 'open', messages = [] } of chat.conversations ?? [{}]) {
    const conversation = helpdesk.world.addConversation({ contactId, inboxId, status, ...address })
    filled.conversations.push(conversation)
    for (const message of messages) addMessage(helpdesk, bridge, { chat, conversation, message, filled, isEarly })
  }
  return filled
}

/** Adds the contact under which the bridge itself writes to agents; undefined for a bridge without one. */
export function fillOwnContact(helpdesk: Desk, bridge: OtherBridge, { inboxId = 1 }: FillOptions = {}) {
  const own: Partial<Record<OtherBridge, Placed>> = {
    evolution: { name: 'EvolutionAPI', phoneNumber: '+123456' },
    waha: {
      name: 'WhatsApp Integration (WAHA)',
      identifier: 'whatsapp.integration',
      customAttributes: { waha_whatsapp_chat_id: 'whatsapp.integration' },
    },
  }
  const contact = own[bridge]
  if (!contact) return undefined
  const { id: contactId } = helpdesk.world.addContact({ ...contact, inboxId })
  const conversation = helpdesk.world.addConversation({ contactId, inboxId })
  const said = bridge === 'evolution' ? ['outgoing', 'init'] : ['incoming', 'Session is working']
  const [messageType = '', content = ''] = said
  helpdesk.world.addMessage(conversation, { messageType, content })
  return { contactId, conversation }
}

/** Adds so many people, each with one conversation and two messages; their phone numbers count up. */
export function fillMany(
  helpdesk: Desk,
  bridge: OtherBridge,
  count: number,
  { firstPhone = 5_511_970_000_000, ...options }: FillOptions & { firstPhone?: number } = {},
): FilledChat[] {
  return Array.from({ length: count }, (_, index) => {
    const phone = String(firstPhone + index)
    const messages = [
      { id: `3EB0IN${phone}`, text: 'hello' },
      { id: `3EB0ME${phone}`, text: 'good morning', fromMe: true },
    ]
    return fillChat(helpdesk, bridge, { phone, name: `Person ${index}`, conversations: [{ messages }] }, options)
  })
}

/** The address of the chat on the network. */
function jidOf({ phone, lid, group }: BridgedChat): string {
  if (group !== undefined) return groupJid(group)
  return phone === undefined ? lidJid(lid ?? '') : phoneJid(phone)
}

function contactOf(bridge: OtherBridge, chat: BridgedChat, isEarly: boolean): Placed {
  return { evolution: evolutionContact, waha: wahaContact, gowa: gowaContact }[bridge](chat, isEarly)
}

/** A person with an anonymous id gets a phone number that is made of its digits. */
function evolutionContact(chat: BridgedChat): Placed {
  const identifier = jidOf(chat)
  const [digits = ''] = identifier.split('@')
  if (chat.group !== undefined) return { name: `${chat.name ?? chat.group} (GROUP)`, identifier }
  return { name: chat.name ?? digits, identifier, phoneNumber: `+${digits}` }
}

function wahaContact({ phone, lid, group, name }: BridgedChat): Placed {
  const jid = phone === undefined ? undefined : `${phone}@c.us`
  const address = group === undefined ? (jid ?? lidJid(lid ?? '')) : groupJid(group)
  const attributes = {
    waha_whatsapp_chat_id: address,
    ...(jid !== undefined && { waha_whatsapp_jid: jid }),
    ...(lid !== undefined && { waha_whatsapp_lid: lidJid(lid) }),
  }
  const shown = group !== undefined && name !== undefined ? `${name} (Group)` : (name ?? address)
  const key = phone === undefined ? { identifier: address } : { phoneNumber: `+${phone}` }
  return { name: shown, ...key, customAttributes: attributes }
}

function gowaContact(chat: BridgedChat, isEarly: boolean): Placed {
  const { phone, group, name } = chat
  const address = jidOf(chat)
  const label = name ?? (group === undefined ? (phone ?? address) : `Group: ${group}`)
  const customAttributes = { [isEarly ? 'waha_whatsapp_jid' : 'gowa_whatsapp_jid']: phone ?? address }
  const key = phone === undefined ? { identifier: address } : { phoneNumber: `+${phone}` }
  return { name: label, ...key, customAttributes }
}

type Writing = {
  chat: BridgedChat
  conversation: number
  message: BridgedMessage
  filled: FilledChat
  isEarly: boolean
}

function addMessage(helpdesk: Desk, bridge: OtherBridge, writing: Writing): void {
  const { chat, conversation, message, filled, isEarly } = writing
  const { id, text, fromMe = false, byAgent = false, at, hasFile = false } = message
  const isOutgoing = fromMe || byAgent
  const written = helpdesk.world.addMessage(conversation, {
    content: isOutgoing || chat.group === undefined ? text : inGroup(bridge, text),
    messageType: isOutgoing ? 'outgoing' : 'incoming',
    // WAHA shows what the owner wrote on the phone as a private note.
    private: bridge === 'waha' && fromMe && !byAgent,
    sourceId: hasSourceId(bridge, byAgent, isEarly) ? `WAID:${id}` : null,
    contentAttributes: replyOf(bridge, message, filled),
    ...(hasFile && { files: [picture] }),
    ...(at !== undefined && { at }),
  })
  filled.messages.set(id, written)
}

/** An answer of an agent has no source id. WAHA keeps all ids in a database of its own, and so did early versions of gowa. */
function hasSourceId(bridge: OtherBridge, byAgent: boolean, isEarly: boolean): boolean {
  return bridge !== 'waha' && !byAgent && !(bridge === 'gowa' && isEarly)
}

function replyOf(bridge: OtherBridge, { quotes }: BridgedMessage, { messages }: FilledChat): Record<string, unknown> {
  if (quotes === undefined) return {}
  const original = messages.get(quotes)
  if (bridge === 'gowa') return { in_reply_to_external_id: `WAID:${quotes}` }
  if (bridge === 'waha') return { in_reply_to: original }
  return { in_reply_to: original, in_reply_to_external_id: quotes }
}

function inGroup(bridge: OtherBridge, text: string): string {
  const heads = {
    evolution: '**+55 (11) 9888-0001 - Bob:**\n\n',
    waha: '👥 *Bob (5511988880001@c.us)*\n\n',
    gowa: 'Bob: ',
  }
  return heads[bridge] + text
}
