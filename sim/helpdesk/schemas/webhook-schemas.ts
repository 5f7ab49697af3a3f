// The schemas of webhook bodies. The simulator checks every body that it sends.

import { Type } from 'typebox'
import { Attributes, exact, Id, IsoTime, nullable, NullableString, UnixSeconds } from './basics.ts'
import { contactFields, ContactPush } from './contact-schemas.ts'
import { StatusName } from './conversation-schemas.ts'
import { AttachmentBody, PushMessage, UserPush } from './message-schemas.ts'

const AccountHook = exact({ id: Id, name: Type.String() })

export const ContactHook = exact({ ...contactFields, account: AccountHook, avatar: Type.String() })
export const UserHook = exact({ id: Id, name: Type.String(), email: Type.String(), type: Type.Literal('user') })
export const BotHook = exact({ id: Id, name: Type.String(), type: Type.Literal('agent_bot') })
const PersonHook = Type.Union([UserHook, BotHook, ContactHook])

const conversationFields = {
  additional_attributes: Attributes,
  can_reply: Type.Boolean(),
  channel: Type.Literal('Channel::Api'),
  contact_inbox: exact({
    id: Id,
    contact_id: Id,
    inbox_id: Id,
    source_id: Type.String(),
    created_at: IsoTime,
    updated_at: IsoTime,
    hmac_verified: Type.Boolean(),
    pubsub_token: Type.String(),
  }),
  id: Id,
  inbox_id: Id,
  messages: Type.Array(PushMessage, { maxItems: 1 }),
  labels: Type.Array(Type.String()),
  meta: exact({
    sender: ContactPush,
    assignee: nullable(UserPush),
    assignee_type: nullable(Type.Literal('User')),
    team: Type.Null(),
    hmac_verified: Type.Boolean(),
  }),
  status: StatusName,
  custom_attributes: Attributes,
  snoozed_until: nullable(IsoTime),
  unread_count: Type.Integer(),
  first_reply_created_at: nullable(IsoTime),
  priority: NullableString,
  waiting_since: UnixSeconds,
  agent_last_seen_at: UnixSeconds,
  contact_last_seen_at: UnixSeconds,
  last_activity_at: UnixSeconds,
  timestamp: UnixSeconds,
  created_at: UnixSeconds,
  updated_at: Type.Number(),
}
export const ConversationHook = exact(conversationFields)

export const MessageEvent = exact({
  account: AccountHook,
  additional_attributes: Attributes,
  content_attributes: Attributes,
  content_type: Type.String(),
  content: NullableString,
  conversation: ConversationHook,
  created_at: IsoTime,
  id: Id,
  inbox: exact({ id: Id, name: Type.String() }),
  message_type: Type.Union([Type.Literal('incoming'), Type.Literal('outgoing'), Type.Literal('template')]),
  private: Type.Boolean(),
  sender: nullable(PersonHook),
  source_id: NullableString,
  attachments: Type.Optional(Type.Array(AttachmentBody)),
  event: Type.Union([Type.Literal('message_created'), Type.Literal('message_updated')]),
})
const Changed = Type.Record(Type.String(), exact({ previous_value: Type.Unknown(), current_value: Type.Unknown() }))
const ConversationEvent = exact({
  ...conversationFields,
  event: Type.Union([
    Type.Literal('conversation_created'),
    Type.Literal('conversation_updated'),
    Type.Literal('conversation_status_changed'),
  ]),
  changed_attributes: Type.Optional(nullable(Type.Array(Changed))),
})
const TypingEvent = exact({
  event: Type.Union([Type.Literal('conversation_typing_on'), Type.Literal('conversation_typing_off')]),
  user: PersonHook,
  conversation: ConversationHook,
  is_private: Type.Boolean(),
})
const ContactEvent = Type.Object({
  ...ContactHook.properties,
  event: Type.Union([Type.Literal('contact_created'), Type.Literal('contact_updated')]),
  changed_attributes: Type.Optional(Type.Array(Changed)),
})
export const AnyEvent = Type.Union([MessageEvent, ConversationEvent, TypingEvent, ContactEvent])
