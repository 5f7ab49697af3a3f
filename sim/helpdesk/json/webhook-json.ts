// Builds the bodies of webhooks when the job runs: a body shows the state of that moment, not of the event.

import type { Static } from 'typebox'
import { canReply, unreadCount } from '../desk/conversations.ts'
import type { HelpdeskEvent, MessageChange } from '../desk/desk.ts'
import type {
  AnyEvent,
  BotHook,
  ContactHook,
  ConversationHook,
  MessageEvent,
  UserHook,
} from '../schemas/webhook-schemas.ts'
import type { ContactInboxRow, ConversationRow, Sender } from '../state/rows.ts'
import { contactHook, contactPush } from './contact-json.ts'
import type { JsonSource } from './conversation-json.ts'
import { hookContent, withPlainBreaks } from './hook-content.ts'
import { attachmentField, pushMessage, userPush } from './message-json.ts'
import { iso, isoOrNull, unix, unixOrZero } from './times.ts'

export type WebhookBody = Static<typeof AnyEvent>

/** Returns undefined for activity messages, which have no webhook. */
export function webhookJson(source: JsonSource, event: HelpdeskEvent): WebhookBody | undefined {
  switch (event.event) {
    case 'message_created':
    case 'message_updated':
      return messageEvent(source, event)
    case 'conversation_created':
      return { ...conversationHook(source, event.conversation), event: event.event }
    // Chatwoot passes a change that is already saved, so the list of changes is lost.
    case 'conversation_status_changed':
      return { ...conversationHook(source, event.conversation), event: event.event, changed_attributes: null }
    case 'conversation_updated':
      return { ...conversationHook(source, event.conversation), event: event.event, changed_attributes: event.changed }
    case 'conversation_typing_on':
    case 'conversation_typing_off':
      return {
        event: event.event,
        user: personHook(source, event.typist),
        conversation: conversationHook(source, event.conversation),
        is_private: event.isPrivate,
      }
    case 'contact_created':
      return { ...contactHook(source.files, event.contact), event: event.event }
    case 'contact_updated':
      return {
        ...contactHook(source.files, event.contact),
        event: event.event,
        changed_attributes: event.changed ?? [],
      }
  }
}

function messageEvent(
  source: JsonSource,
  { event, message, contentAttributes = message.contentAttributes }: MessageChange,
): Static<typeof MessageEvent> | undefined {
  const { conversation, messageType } = message
  if (messageType === 'activity') return undefined
  return {
    account: { id: conversation.account.id, name: conversation.account.name },
    additional_attributes: {},
    content_attributes: contentAttributes,
    content_type: message.contentType,
    content: hookContent(source, message),
    conversation: conversationHook(source, conversation),
    created_at: iso(message.createdAt),
    id: message.id,
    inbox: { id: conversation.inbox.id, name: conversation.inbox.name },
    message_type: messageType,
    private: message.private,
    sender: message.sender ? personHook(source, message.sender) : null,
    source_id: message.sourceId,
    ...attachmentField(source.files, message),
    event,
  }
}

function conversationHook({ desk, files }: JsonSource, row: ConversationRow): Static<typeof ConversationHook> {
  // For a private note this is the public message before the note.
  const shown = row.messages.findLast((one) => one.messageType !== 'activity' && !one.private)
  return {
    additional_attributes: row.additionalAttributes,
    can_reply: canReply(desk, row),
    channel: 'Channel::Api',
    contact_inbox: contactInboxHook(row.contactInbox),
    id: row.displayId,
    inbox_id: row.inbox.id,
    messages: shown ? [withPlainBreaks(desk.features, pushMessage(files, shown))] : [],
    labels: row.labels,
    meta: {
      sender: contactPush(files, row.contact),
      assignee: row.assignee ? userPush(row.assignee) : null,
      assignee_type: row.assignee ? 'User' : null,
      team: null,
      hmac_verified: row.contactInbox.hmacVerified,
    },
    status: row.status,
    custom_attributes: row.customAttributes,
    snoozed_until: isoOrNull(row.snoozedUntil),
    unread_count: unreadCount(row),
    first_reply_created_at: isoOrNull(row.firstReplyCreatedAt),
    priority: row.priority,
    waiting_since: unixOrZero(row.waitingSince),
    agent_last_seen_at: unixOrZero(row.agentLastSeenAt),
    contact_last_seen_at: unixOrZero(row.contactLastSeenAt),
    last_activity_at: unix(row.lastActivityAt),
    timestamp: unix(row.lastActivityAt),
    created_at: unix(row.createdAt),
    updated_at: row.updatedAt / 1000,
  }
}

function contactInboxHook(row: ContactInboxRow) {
  return {
    id: row.id,
    contact_id: row.contact.id,
    inbox_id: row.inbox.id,
    source_id: row.sourceId,
    created_at: iso(row.createdAt),
    updated_at: iso(row.updatedAt),
    hmac_verified: row.hmacVerified,
    pubsub_token: row.pubsubToken,
  }
}

function personHook(
  { files }: JsonSource,
  person: Sender,
): Static<typeof UserHook> | Static<typeof BotHook> | Static<typeof ContactHook> {
  if (person.type === 'Contact') return contactHook(files, person.contact)
  if (person.type === 'AgentBot') return { id: person.bot.id, name: person.bot.name, type: 'agent_bot' }
  const { id, name, email } = person.user
  return { id, name, email, type: 'user' }
}
