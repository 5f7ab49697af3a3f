// Messages of the helpdesk.

import type { Readable } from 'node:stream'

/** A message of a customer or to a customer. `createdAt` is in milliseconds. */
export type ListedMessage = { id: number; sourceId: string; createdAt: number; isIncoming: boolean; content: string }

/** `isWhole` is false when there are more messages than the helpdesk lists at once. Any of them may be missing then. */
export type MessagesPage = { messages: readonly ListedMessage[]; isWhole: boolean }

export type UploadFile = {
  /** Opens the file again for every attempt. */
  open: () => Promise<Readable>
  fileName: string
  mimeType: string
  size: number | null
}

export type NewMessage = {
  type: 'incoming' | 'outgoing' | 'activity'
  content: string
  sourceId: string | null
  /** Message id at the helpdesk, in the same conversation. */
  inReplyTo: number | null
  /** Written on the owner's phone. */
  isEcho: boolean
  /** The customer's own text, when the content says it in other words. */
  originalText?: string
  private: boolean
  files: readonly UploadFile[]
  /** When the message was written, for a message of the history; epoch milliseconds. */
  sentAt?: number
}

export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed'
/** `createdAt` is in milliseconds; the helpdesk tells only whole seconds. */
export type PostedMessage = {
  id: number
  sourceId: string | null
  status: MessageStatus
  createdAt: number
  isDeleted: boolean
}
/** `flaw` says why the helpdesk must not get another message, although it took this one. */
export type NewlyPosted = PostedMessage & { flaw?: string }

/** A message of an agent, a bot or the helpdesk itself. `createdAt` is in milliseconds. */
export type OutgoingMessage = { id: number; createdAt: number }
