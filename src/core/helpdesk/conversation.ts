// Conversations of the helpdesk.

import type { Contact } from './contact.ts'

/** A conversation of this inbox, with its contact, as the helpdesk lists it. */
export type ListedConversation = {
  id: number
  status: ConversationStatus
  isHistory: boolean
  isBlocked: boolean
  /** Null while the conversation has no message. */
  newestMessage: { id: number; at: number; sourceId: string | null } | null
  lastActivityAt: number
  contact: {
    id: number
    name: string
    identifier: string | null
    phone: string | null
    attributes: Readonly<Record<string, unknown>>
    /** The address of the contact under which the conversation began; null while it has no message. */
    sourceId: string | null
  }
}

export type ConversationsPage = { conversations: readonly ListedConversation[]; isLast: boolean }

export type ConversationStatus = 'open' | 'resolved' | 'pending' | 'snoozed'
export type Conversation = {
  id: number
  status: ConversationStatus
  inboxId: number
  /** Null when the helpdesk does not say. */
  contactId: number | null
  newestMessageId: number | null
  /** Null while the conversation has no message. */
  callbackSign: CallbackSign | null
  /** The service created it for the history of its chat. New messages never go into it. */
  isHistory?: true
}

/** A conversation for messages of the history. `mark` names it, so that a repetition of the request finds it. */
export type PendingSpec = {
  contact: Pick<Contact, 'id' | 'sourceId'>
  mark: string
  /** Live messages never go into the conversation. */
  isHistory: boolean
  /** Awaited before the conversation is created. Rejects when none may be created now. */
  beforeCreation: () => Promise<void>
}

/** `isOwn` is false when the helpdesk inbox is locked to one conversation and gave back the last one of the contact. */
export type ImportConversation = Conversation & { isOwn: boolean }

/** Why the helpdesk could not deliver a callback, in its own words without secrets, and what an operator can do. */
export type CallbackFailure = { reason: string; advice: string }

/**
 * What the newest message of a conversation shows of the callbacks. `at` is its time by the clock of the helpdesk. `failedId` is
 * its id, if it is a message to the customer that the helpdesk shows as failed for any reason.
 */
export type CallbackSign = { at: number; failure: CallbackFailure | null; failedId: number | null }

/** What a search for a conversation leaves out, and how a new one is created. */
export type Opening = {
  /** Conversations of other accounts: two accounts can share an inbox and a customer. */
  except?: readonly number[]
  /** The status of a new conversation. With `open` the helpdesk decides: it takes `pending` for an inbox with a bot. */
  status?: 'open' | 'pending'
  /** The contact has no conversation in this inbox, so none is searched. */
  isFirst?: boolean
  /** Awaited before a conversation is created. Rejects when none may be created now. */
  beforeCreation?: () => Promise<void>
}
