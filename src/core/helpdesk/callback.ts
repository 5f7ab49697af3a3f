// What a callback of the helpdesk says, and what it asks for.

import type { CreatedFor } from '../history/import-state.ts'
import type { NetworkMessageId } from '../ids.ts'

/** Who a callback means: the contact of its conversation. */
export type Recipient = { identifier: string | null; phone: string | null; sourceId: string | null }

/** The conversation that a callback names. A field is null when the callback does not carry it. */
export type CallbackConversation = {
  accountId: number | null
  inboxId: number | null
  conversationId: number | null
  /** The conversation was created for an import. */
  createdFor?: CreatedFor
  /** When the conversation was created, in milliseconds by the clock of the helpdesk. Only with `createdFor`. */
  createdAt?: number
}

export type Attachment = { url: string; mimeType: string | null; fileName: string | null; size: number | null }

/** A change of the labels of a conversation, by their titles. */
export type LabelEdit = { before: readonly string[]; after: readonly string[] }

/** A message as an agent wrote it. */
export type WrittenMessage = {
  conversation: CallbackConversation
  recipient: Recipient
  /** Null when the helpdesk does not name it; then repetitions cannot be recognized. */
  messageId: number | null
  /** When the helpdesk stored it, in milliseconds by the clock of the helpdesk; null when it does not say. */
  writtenAt: number | null
  content: string
  /** The titles of the choices that the content offers, in the order of their numbers. */
  choices?: readonly string[]
  /** The content is the text of a survey, without the link to it. */
  lacksSurveyLink?: true
  /** In the order in which the agent added them. Of a long list only as many as are needed to see that it is too long. */
  attachments: readonly Attachment[]
  /** An attachment came without an address from which it could be fetched. */
  lacksFile: boolean
  /** The message at the helpdesk, or its source id, that this one answers. */
  inReplyTo: { messageId: number | null; sourceId: string | null } | null
  agentName: string | null
  /** A person wrote it: neither a bot, nor a rule, a campaign or a template of the helpdesk. */
  isByPerson: boolean
}

/** What a callback of the helpdesk asks for. */
export type OutgoingCommand =
  | ({ kind: 'send' } & WrittenMessage)
  /** A message changed: deleted, sent again by the agent, or changed in a way that does not matter here. */
  | ({
      kind: 'changed'
      messageId: number
      /** The network id under which the service itself posted the message. Only with `deleted`. */
      sourceId?: NetworkMessageId
      deleted: boolean
      externalError: string | null
      isTranslated: boolean
    } & WrittenMessage)
  /** An agent saw the conversation up to a time in milliseconds; null for all of it. */
  | {
      kind: 'seen'
      conversation: CallbackConversation
      recipient: Recipient
      at: number | null
      isResolved: boolean
      /** The labels have changed too. */
      labels?: LabelEdit
    }
  /** Callbacks are unordered: the conversation may have another status by now. */
  | {
      kind: 'status'
      conversation: CallbackConversation
      recipient: Recipient
      isResolved: boolean
      labels?: LabelEdit
    }
  | { kind: 'typing'; conversation: CallbackConversation; recipient: Recipient; typing: boolean }
  /** An agent asks the service for something in a private note. A note is never sent to the network. */
  | {
      kind: 'note'
      conversation: CallbackConversation
      recipient: Recipient
      messageId: number
      /** The members of the group whose conversation it is. */
      asksFor: 'members'
    }
  | {
      kind: 'ignored'
      reason: 'private' | 'echo' | 'not_outgoing' | 'deleted' | 'unused_event' | 'unreadable'
      /** What makes the callback unreadable. Names the field, not its value. */
      flaw?: string
    }
