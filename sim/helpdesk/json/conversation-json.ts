// Conversations in the JSON of Chatwoot's REST answers.

import type { Static } from 'typebox'
import { canReply, unreadCount } from '../desk/conversations.ts'
import type { Desk } from '../desk/desk.ts'
import type { AgentBody, ConversationBody, MessageList } from '../schemas/conversation-schemas.ts'
import type { PublicContactRecord, PublicConversation } from '../schemas/public-schemas.ts'
import type { AccountRow, ContactRow, ConversationRow, MessageRow, UserRow } from '../state/rows.ts'
import { contactJson, contactPush } from './contact-json.ts'
import type { FileAddresses } from './file-addresses.ts'
import { messageJson, presence, publicMessageJson, pushMessage } from './message-json.ts'
import { iso, isoOrNull, unix, unixOrZero } from './times.ts'

export type JsonSource = { desk: Desk; files: FileAddresses }

export function conversationJson({ desk, files }: JsonSource, row: ConversationRow): Static<typeof ConversationBody> {
  const newest = row.messages.at(-1)
  const lastWords = row.messages.findLast((one) => one.messageType !== 'activity')
  return {
    meta: {
      sender: contactJson(files, row.contact, false),
      channel: 'Channel::Api',
      ...(row.assignee ? { assignee: agentJson(row.account, row.assignee), assignee_type: 'User' } : {}),
      hmac_verified: row.contactInbox.hmacVerified,
    },
    id: row.displayId,
    messages: newest ? [pushMessage(files, newest)] : [],
    account_id: row.account.id,
    uuid: row.uuid,
    additional_attributes: row.additionalAttributes,
    agent_last_seen_at: unixOrZero(row.agentLastSeenAt),
    assignee_last_seen_at: unixOrZero(row.assigneeLastSeenAt),
    can_reply: canReply(desk, row),
    contact_last_seen_at: unixOrZero(row.contactLastSeenAt),
    custom_attributes: row.customAttributes,
    inbox_id: row.inbox.id,
    labels: row.labels,
    muted: row.contact.blocked,
    snoozed_until: row.snoozedUntil === null ? null : unix(row.snoozedUntil),
    status: row.status,
    created_at: unix(row.createdAt),
    updated_at: row.updatedAt / 1000,
    timestamp: unix(row.lastActivityAt),
    first_reply_created_at: unixOrZero(row.firstReplyCreatedAt),
    unread_count: unreadCount(row),
    last_non_activity_message: lastWords ? pushMessage(files, lastWords) : null,
    last_activity_at: unix(row.lastActivityAt),
    priority: row.priority,
    waiting_since: unixOrZero(row.waitingSince),
    sla_policy_id: null,
  }
}

export function messageListJson(
  { files }: JsonSource,
  row: ConversationRow,
  messages: readonly MessageRow[],
): Static<typeof MessageList> {
  return {
    meta: {
      labels: row.labels,
      additional_attributes: row.additionalAttributes,
      contact: contactPush(files, row.contact),
      ...(row.assignee ? { assignee: agentJson(row.account, row.assignee) } : {}),
      agent_last_seen_at: isoOrNull(row.agentLastSeenAt),
      assignee_last_seen_at: isoOrNull(row.assigneeLastSeenAt),
    },
    payload: messages.map((one) => messageJson(files, one)),
  }
}

export function publicConversationJson({ files }: JsonSource, row: ConversationRow): Static<typeof PublicConversation> {
  const shown = row.messages.filter((one) => one.messageType !== 'activity' && !one.private)
  return {
    id: row.displayId,
    uuid: row.uuid,
    inbox_id: row.inbox.id,
    contact_last_seen_at: unixOrZero(row.contactLastSeenAt),
    status: row.status,
    agent_last_seen_at: unixOrZero(row.agentLastSeenAt),
    messages: shown.map((one) => publicMessageJson(files, one)),
    contact: publicContactRecord(row.contact),
  }
}

export function publicContactRecord(contact: ContactRow): Static<typeof PublicContactRecord> {
  return {
    id: contact.id,
    name: contact.name,
    email: contact.email,
    phone_number: contact.phoneNumber,
    identifier: contact.identifier,
    blocked: contact.blocked,
    additional_attributes: contact.additionalAttributes,
    custom_attributes: contact.customAttributes,
    contact_type: contact.email || contact.phoneNumber ? 'lead' : 'visitor',
    country_code: null,
    last_activity_at: isoOrNull(contact.lastActivityAt),
    created_at: iso(contact.createdAt),
    updated_at: iso(contact.updatedAt),
    last_name: '',
    middle_name: '',
    location: null,
    account_id: contact.account.id,
    company_id: null,
    label_list: contact.labels,
  }
}

export function agentJson(account: AccountRow, user: UserRow): Static<typeof AgentBody> {
  return {
    id: user.id,
    account_id: account.id,
    availability_status: presence(user),
    auto_offline: true,
    confirmed: true,
    email: user.email,
    provider: 'email',
    available_name: user.name,
    name: user.name,
    role: user.memberships.get(account.id) ?? 'agent',
    thumbnail: '',
    custom_role_id: null,
  }
}
