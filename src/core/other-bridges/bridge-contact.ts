// The words of the forms of other bridges: a contact as the helpdesk shows it, and whom it stands for.

import { parseChat } from '../address.ts'
import type { Chat } from '../address.ts'
import type { NetworkMessageId } from '../ids.ts'

/** A contact of a helpdesk inbox, as far as another bridge may have written it. */
export type BridgeContact = {
  name: string
  identifier: string | null
  /** E.164 with the plus. */
  phone: string | null
  /** The custom attributes. Agents can edit them, so a value may be anything. */
  attributes: Readonly<Record<string, unknown>>
  /** The addresses of the contact in the helpdesk inbox. */
  sourceIds: readonly string[]
}

/**
 * chat   the contact stands for a person or a group. `isMarked`: something that only a bridge writes says so; otherwise the phone
 *        number does.
 * own    the bridge itself writes to agents under this contact
 * other  the contact stands for no person and no group: a channel, the status, a list, or a contact without an address
 */
export type Recognition = { kind: 'chat'; chat: Chat; isMarked: boolean } | { kind: 'own' } | { kind: 'other' }

/** What one bridge writes into a helpdesk inbox. */
export type BridgeForms = {
  recognise: (contact: BridgeContact) => Recognition
  /** Whether the messages of the bridge carry the id of the network. */
  hasMessageIds: boolean
  /** The id of the network in the source id of a message; null when it carries none. */
  messageIdOf: (sourceId: string) => NetworkMessageId | null
  /** Whether the bridge gives the contact of the chat this name by itself, without a person's choice. */
  isOwnName: (name: string, chat: Chat) => boolean
}

/** The chat that the phone number names; undefined when there is none. */
export function chatOfPhone({ phone }: Pick<BridgeContact, 'phone'>): Chat | undefined {
  const digits = /^\+([1-9]\d{4,14})$/.exec(phone ?? '')?.[1]
  return digits === undefined ? undefined : { kind: 'person', phone: digits, lid: null }
}

export function parseAddress(value: unknown): Chat | undefined {
  return typeof value === 'string' ? parseChat(value) : undefined
}

/** Whether a name is only an address of the chat: its digits, with or without a plus or a domain. */
export function isAddressOf(name: string, chat: Chat): boolean {
  const addresses = chat.kind === 'group' ? [chat.id] : [chat.phone, chat.lid]
  const bare = /^\+?(\d{1,20}(?:-\d{1,20})?)(?:@[a-z.]{1,20})?$/.exec(name.trim())?.[1]
  return bare !== undefined && addresses.includes(bare)
}

/** Evolution API and gowa give messages of the network the same source id. */
export function readWaid(sourceId: string): NetworkMessageId | null {
  return /^WAID:([\w.-]{1,128})$/.exec(sourceId)?.[1] ?? null
}
