// Copies of the rows for tests, in plain words. A copy does not change with its row.

import type {
  Attributes,
  ContactRow,
  ConversationRow,
  ConversationStatus,
  FileType,
  MessageRow,
  MessageStatus,
  MessageType,
} from './state/rows.ts'

export type SeenFile = { fileType: FileType; filename: string; contentType: string; bytes: Uint8Array }

export type SeenMessage = {
  id: number
  accountId: number
  inboxId: number
  /** The display id, as everywhere outside the database. */
  conversationId: number
  content: string | null
  messageType: MessageType
  contentType: string
  contentAttributes: Attributes
  private: boolean
  status: MessageStatus
  sourceId: string | null
  sender: { type: 'Contact' | 'User' | 'AgentBot'; id: number; name: string } | null
  files: SeenFile[]
  createdAt: number
}

export type SeenContact = {
  id: number
  accountId: number
  name: string
  email: string | null
  phoneNumber: string | null
  identifier: string | null
  blocked: boolean
  avatar: Uint8Array | null
  additionalAttributes: Attributes
  customAttributes: Attributes
  addresses: { inboxId: number; sourceId: string }[]
}

export type SeenConversation = {
  id: number
  accountId: number
  inboxId: number
  contactId: number
  sourceId: string
  status: ConversationStatus
  assigneeId: number | null
  agentLastSeenAt: number | null
  contactLastSeenAt: number | null
  contactTypingSince: number | null
  customAttributes: Attributes
  labels: string[]
  createdAt: number
  lastActivityAt: number
  firstReplyCreatedAt: number | null
  waitingSince: number | null
  messageCount: number
}

export function seeMessage(row: MessageRow): SeenMessage {
  const { conversation, sender } = row
  return {
    id: row.id,
    accountId: conversation.account.id,
    inboxId: conversation.inbox.id,
    conversationId: conversation.displayId,
    content: row.content,
    messageType: row.messageType,
    contentType: row.contentType,
    contentAttributes: { ...row.contentAttributes },
    private: row.private,
    status: row.status,
    sourceId: row.sourceId,
    sender: sender ? seeSender(sender) : null,
    files: row.attachments
      .toSorted((a, b) => a.id - b.id)
      .map(({ fileType, blob }) => ({
        fileType,
        filename: blob.filename,
        contentType: blob.contentType,
        bytes: blob.bytes,
      })),
    createdAt: row.createdAt,
  }
}

function seeSender(sender: NonNullable<MessageRow['sender']>): SeenMessage['sender'] {
  const { id, name } = sender.type === 'Contact' ? sender.contact : sender.type === 'User' ? sender.user : sender.bot
  return { type: sender.type, id, name }
}

export function seeContact(row: ContactRow): SeenContact {
  return {
    id: row.id,
    accountId: row.account.id,
    name: row.name,
    email: row.email,
    phoneNumber: row.phoneNumber,
    identifier: row.identifier,
    blocked: row.blocked,
    avatar: row.avatar?.bytes ?? null,
    additionalAttributes: { ...row.additionalAttributes },
    customAttributes: { ...row.customAttributes },
    addresses: row.contactInboxes.map(({ inbox, sourceId }) => ({ inboxId: inbox.id, sourceId })),
  }
}

export function seeConversation(row: ConversationRow): SeenConversation {
  return {
    id: row.displayId,
    accountId: row.account.id,
    inboxId: row.inbox.id,
    contactId: row.contact.id,
    sourceId: row.contactInbox.sourceId,
    status: row.status,
    assigneeId: row.assignee?.id ?? null,
    agentLastSeenAt: row.agentLastSeenAt,
    contactLastSeenAt: row.contactLastSeenAt,
    contactTypingSince: row.contactTypingSince,
    customAttributes: { ...row.customAttributes },
    labels: [...row.labels],
    createdAt: row.createdAt,
    lastActivityAt: row.lastActivityAt,
    firstReplyCreatedAt: row.firstReplyCreatedAt,
    waitingSince: row.waitingSince,
    messageCount: row.messages.length,
  }
}
