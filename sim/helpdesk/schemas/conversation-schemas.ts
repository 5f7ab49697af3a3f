// The schemas of requests and answers about conversations.

import { Type } from 'typebox'
import { Attributes, Digits, exact, Id, IsoTime, nullable, NullableString, UnixSeconds } from './basics.ts'
import { ContactBody, ContactPush } from './contact-schemas.ts'
import { MessageBody, MessageCreate, PushMessage } from './message-schemas.ts'

export const StatusName = Type.Union([
  Type.Literal('open'),
  Type.Literal('resolved'),
  Type.Literal('pending'),
  Type.Literal('snoozed'),
])

export const AgentBody = exact({
  id: Id,
  account_id: Id,
  availability_status: Type.String(),
  auto_offline: Type.Boolean(),
  confirmed: Type.Boolean(),
  email: Type.String(),
  provider: Type.String(),
  available_name: Type.String(),
  name: Type.String(),
  role: Type.Union([Type.Literal('agent'), Type.Literal('administrator')]),
  thumbnail: Type.String(),
  custom_role_id: Type.Null(),
})

export const ConversationBody = exact({
  meta: exact({
    sender: ContactBody,
    channel: Type.Literal('Channel::Api'),
    assignee: Type.Optional(AgentBody),
    assignee_type: Type.Optional(Type.Literal('User')),
    hmac_verified: Type.Boolean(),
  }),
  id: Id,
  messages: Type.Array(PushMessage),
  account_id: Id,
  uuid: Type.String(),
  additional_attributes: Attributes,
  agent_last_seen_at: UnixSeconds,
  assignee_last_seen_at: UnixSeconds,
  can_reply: Type.Boolean(),
  contact_last_seen_at: UnixSeconds,
  custom_attributes: Attributes,
  inbox_id: Id,
  labels: Type.Array(Type.String()),
  muted: Type.Boolean(),
  snoozed_until: nullable(UnixSeconds),
  status: StatusName,
  created_at: UnixSeconds,
  updated_at: Type.Number(),
  timestamp: UnixSeconds,
  first_reply_created_at: UnixSeconds,
  unread_count: Type.Integer({ minimum: 0, maximum: 10 }),
  last_non_activity_message: nullable(PushMessage),
  last_activity_at: UnixSeconds,
  priority: NullableString,
  waiting_since: UnixSeconds,
  sla_policy_id: Type.Null(),
})
const counts = exact({
  mine_count: Type.Integer(),
  assigned_count: Type.Integer(),
  unassigned_count: Type.Integer(),
  all_count: Type.Integer(),
})
export const ConversationCounts = exact({ meta: counts })
export const ConversationList = exact({ data: exact({ meta: counts, payload: Type.Array(ConversationBody) }) })
/** The filter answers without the `data` object around its result. */
export const FilteredConversations = exact({
  meta: exact({ mine_count: Type.Integer(), unassigned_count: Type.Integer(), all_count: Type.Integer() }),
  payload: Type.Array(ConversationBody),
})
export const ContactConversations = exact({ payload: Type.Array(ConversationBody) })
export const MessageList = exact({
  meta: exact({
    labels: Type.Array(Type.String()),
    additional_attributes: Attributes,
    contact: ContactPush,
    assignee: Type.Optional(AgentBody),
    agent_last_seen_at: nullable(IsoTime),
    assignee_last_seen_at: nullable(IsoTime),
  }),
  payload: Type.Array(MessageBody),
})

export const ConversationCreate = exact({
  source_id: Type.Optional(Type.String()),
  inbox_id: Type.Optional(Id),
  contact_id: Type.Optional(Id),
  status: Type.Optional(Type.String()),
  additional_attributes: Type.Optional(Attributes),
  custom_attributes: Type.Optional(Attributes),
  assignee_id: Type.Optional(nullable(Id)),
  team_id: Type.Optional(nullable(Id)),
  snoozed_until: Type.Optional(nullable(Type.Union([Type.String(), Type.Integer()]))),
  message: Type.Optional(MessageCreate),
})
const listFilters = {
  inbox_id: Type.Optional(Digits),
  status: Type.Optional(Type.String()),
  assignee_type: Type.Optional(Type.String()),
}
export const ConversationListQuery = exact({
  ...listFilters,
  source_id: Type.Optional(Type.String()),
  page: Type.Optional(Digits),
  sort_by: Type.Optional(Type.String()),
})
export const ConversationCountsQuery = exact(listFilters)
export const ConversationFilterQuery = exact({ page: Type.Optional(Digits) })

export const StatusToggle = exact({
  status: Type.Optional(Type.String()),
  snoozed_until: Type.Optional(nullable(Type.Integer())),
})
export const StatusToggled = exact({
  payload: exact({
    success: Type.Boolean(),
    conversation_id: Id,
    current_status: StatusName,
    snoozed_until: nullable(IsoTime),
  }),
})
export const TypingToggle = exact({
  typing_status: Type.Union([Type.Literal('on'), Type.Literal('off')]),
  is_private: Type.Optional(Type.Boolean()),
})
export const CustomAttributes = exact({ custom_attributes: Attributes })
export const Assignment = exact({
  assignee_id: Type.Optional(nullable(Type.Integer())),
  team_id: Type.Optional(nullable(Type.Integer())),
})
export const PriorityChange = exact({
  priority: nullable(
    Type.Union([
      Type.Literal('urgent'),
      Type.Literal('high'),
      Type.Literal('medium'),
      Type.Literal('low'),
      Type.Literal('none'),
    ]),
  ),
})
