// The rows of the simulated database, named after the real tables, with references in place of foreign keys.

export type Attributes = Record<string, unknown>
export type Role = 'administrator' | 'agent'
export type ConversationStatus = 'open' | 'resolved' | 'pending' | 'snoozed'
export type Priority = 'low' | 'medium' | 'high' | 'urgent'
export type MessageType = 'incoming' | 'outgoing' | 'activity' | 'template'
export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed'
export type FileType = 'image' | 'audio' | 'video' | 'file'

export const conversationStatuses: readonly ConversationStatus[] = ['open', 'resolved', 'pending', 'snoozed']
/** The position is the number in the database and in REST answers. */
export const messageTypes: readonly MessageType[] = ['incoming', 'outgoing', 'activity', 'template']
export const messageStatuses: readonly MessageStatus[] = ['sent', 'delivered', 'read', 'failed']

export type AccountRow = { id: number; name: string; suspended: boolean; lastDisplayId: number; createdAt: number }

export type UserRow = {
  id: number
  name: string
  email: string
  token: string
  memberships: Map<number, Role>
  /** True while the person has the dashboard open. */
  isOnline: boolean
}

export type AgentBotRow = {
  id: number
  account: AccountRow
  name: string
  description: string | null
  outgoingUrl: string | null
  token: string
  secret: string
}

export type ChannelApi = {
  id: number
  webhookUrl: string | null
  identifier: string
  hmacToken: string
  hmacMandatory: boolean
  secret: string
  additionalAttributes: Attributes
}

export type InboxRow = {
  id: number
  account: AccountRow
  channel: ChannelApi
  /** Other channels exist only so that a client can mistake them for an API inbox. */
  channelType: 'Channel::Api' | 'Channel::WebWidget'
  name: string
  avatar: BlobRow | null
  greetingEnabled: boolean
  greetingMessage: string | null
  workingHoursEnabled: boolean
  outOfOfficeMessage: string | null
  timezone: string
  csatSurveyEnabled: boolean
  enableAutoAssignment: boolean
  enableEmailCollect: boolean
  allowMessagesAfterResolved: boolean
  lockToSingleConversation: boolean
  senderNameType: string
  businessName: string | null
  csatConfig: Attributes
  memberIds: Set<number>
  /** The bot that takes new conversations, which are then pending. */
  agentBot: AgentBotRow | null
  createdAt: number
  updatedAt: number
}

export type ContactRow = {
  id: number
  account: AccountRow
  name: string
  email: string | null
  phoneNumber: string | null
  identifier: string | null
  blocked: boolean
  additionalAttributes: Attributes
  customAttributes: Attributes
  labels: string[]
  avatar: BlobRow | null
  lastActivityAt: number | null
  createdAt: number
  updatedAt: number
  /** Counts the writes: in a list without an order, every write moves the row. */
  version: number
  contactInboxes: ContactInboxRow[]
}

export type ContactInboxRow = {
  id: number
  contact: ContactRow
  inbox: InboxRow
  sourceId: string
  hmacVerified: boolean
  pubsubToken: string
  createdAt: number
  updatedAt: number
  conversations: ConversationRow[]
}

export type ConversationRow = {
  id: number
  displayId: number
  account: AccountRow
  inbox: InboxRow
  contact: ContactRow
  contactInbox: ContactInboxRow
  status: ConversationStatus
  assignee: UserRow | null
  uuid: string
  additionalAttributes: Attributes
  customAttributes: Attributes
  labels: string[]
  priority: Priority | null
  snoozedUntil: number | null
  agentLastSeenAt: number | null
  assigneeLastSeenAt: number | null
  contactLastSeenAt: number | null
  /** When the contact was last said to type. The dashboard shows it for 30 s at most. */
  contactTypingSince: number | null
  lastActivityAt: number
  firstReplyCreatedAt: number | null
  waitingSince: number | null
  createdAt: number
  updatedAt: number
  messages: MessageRow[]
}

export type Sender =
  { type: 'Contact'; contact: ContactRow } | { type: 'User'; user: UserRow } | { type: 'AgentBot'; bot: AgentBotRow }

/** The owner of a token. */
export type Author = Exclude<Sender, { type: 'Contact' }>

export type MessageRow = {
  id: number
  conversation: ConversationRow
  content: string | null
  contentType: string
  contentAttributes: Attributes
  messageType: MessageType
  private: boolean
  status: MessageStatus
  sourceId: string | null
  sender: Sender | null
  /** Backdating changes createdAt, never insertedAt. */
  createdAt: number
  insertedAt: number
  updatedAt: number
  attachments: AttachmentRow[]
}

export type AttachmentRow = {
  id: number
  messageId: number
  accountId: number
  fileType: FileType
  extension: string | null
  blob: BlobRow
  transcribedText: string
  createdAt: number
}

export type BlobRow = {
  key: string
  filename: string
  contentType: string
  bytes: Uint8Array
  /** The storage has the file from this time on. */
  storedAt: number
}

export type AccountWebhookRow = {
  id: number
  account: AccountRow
  url: string
  secret: string
  subscriptions: string[]
}

export type LabelRow = { id: number; account: AccountRow; title: string; color: string }

/** A rule that answers every incoming message of a helpdesk inbox. */
export type AutomationRow = { id: number; inbox: InboxRow; content: string }
