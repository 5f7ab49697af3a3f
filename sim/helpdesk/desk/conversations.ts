// Starts conversations, or returns the last one when the helpdesk inbox is locked to a single conversation.

import type {
  AccountRow,
  Attributes,
  ContactInboxRow,
  ConversationRow,
  ConversationStatus,
  InboxRow,
  UserRow,
} from '../state/rows.ts'
import type { Desk } from './desk.ts'
import { recordInvalid } from './rails-error.ts'

export type ConversationParams = {
  status?: ConversationStatus
  additionalAttributes?: Attributes
  customAttributes?: Attributes
  assignee?: UserRow | null
  snoozedUntil?: number | null
}

/** A locked helpdesk inbox returns its last conversation unchanged, resolved or not, and ignores the parameters. */
export function startConversation(
  desk: Desk,
  contactInbox: ContactInboxRow,
  params: ConversationParams,
): ConversationRow {
  return lockedConversation(contactInbox) ?? createConversation(desk, contactInbox, params)
}

export function lockedConversation({ inbox, conversations }: ContactInboxRow): ConversationRow | undefined {
  return inbox.lockToSingleConversation ? conversations.at(-1) : undefined
}

export function createConversation(
  desk: Desk,
  contactInbox: ContactInboxRow,
  params: ConversationParams,
): ConversationRow {
  const { contact, inbox } = contactInbox
  refuseLongAttributes('additional_attributes', params.additionalAttributes)
  refuseLongAttributes('custom_attributes', params.customAttributes)
  const now = desk.clock.now()
  const conversation = desk.state.conversations.insert((id) => ({
    id,
    displayId: ++inbox.account.lastDisplayId,
    account: inbox.account,
    inbox,
    contact,
    contactInbox,
    status: contact.blocked ? ('resolved' as const) : (params.status ?? initialStatus(inbox)),
    assignee: params.assignee ?? null,
    uuid: desk.choices.uuid('conversation', id),
    additionalAttributes: { ...params.additionalAttributes },
    customAttributes: { ...params.customAttributes },
    labels: [],
    priority: null,
    snoozedUntil: params.snoozedUntil ?? null,
    agentLastSeenAt: null,
    assigneeLastSeenAt: null,
    contactLastSeenAt: null,
    contactTypingSince: null,
    lastActivityAt: now,
    firstReplyCreatedAt: null,
    waitingSince: now,
    createdAt: now,
    updatedAt: now,
    messages: [],
  }))
  desk.state.addConversation(conversation)
  desk.emit({ event: 'conversation_created', conversation })
  return conversation
}

/** A bot gets new conversations first. */
function initialStatus(inbox: InboxRow): ConversationStatus {
  return inbox.agentBot ? 'pending' : 'open'
}

export function refuseLongAttributes(field: string, attributes: Attributes = {}): void {
  const label = field === 'custom_attributes' ? 'Custom attributes' : 'Additional attributes'
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'string' && value.length > 1500) {
      throw recordInvalid(`${label} ${key} length should be < 1500`, [field])
    }
    if (typeof value === 'number' && value > 9_999_999_999) {
      throw recordInvalid(`${label} ${key} value should be < 9999999999`, [field])
    }
  }
}

/** Counts up to 10, like Chatwoot. */
export function unreadCount(conversation: ConversationRow): number {
  const seen = conversation.agentLastSeenAt
  let count = 0
  for (let at = conversation.messages.length - 1; at >= 0 && count < 10; at--) {
    const message = conversation.messages[at]
    if (message?.messageType === 'incoming' && (seen === null || message.createdAt > seen)) count++
  }
  return count
}

/** A helpdesk inbox can forbid answers some hours after the last incoming message. */
export function canReply(desk: Desk, conversation: ConversationRow): boolean {
  const hours = Number(conversation.inbox.channel.additionalAttributes['agent_reply_time_window'] ?? 0)
  if (!(hours > 0)) return true
  const last = conversation.messages.findLast((one) => one.messageType === 'incoming')
  return last !== undefined && desk.clock.now() < last.createdAt + hours * 3_600_000
}

/** An agent opens the conversation in the dashboard. Chatwoot writes this without callbacks, so no event reports it. */
export function markSeenByAgent(desk: Desk, conversation: ConversationRow, user: UserRow): void {
  const now = desk.clock.now()
  const seen = conversation.agentLastSeenAt
  const isRecent = seen !== null && now - seen < 3_600_000
  if (desk.features.lastSeenThrottle && unreadCount(conversation) === 0 && isRecent) return
  conversation.agentLastSeenAt = now
  if (conversation.assignee === user) conversation.assigneeLastSeenAt = now
}

export function conversationsOf(desk: Desk, account: AccountRow): ConversationRow[] {
  return desk.state.conversations.all().filter((one) => one.account === account)
}
