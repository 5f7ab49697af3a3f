// The schemas of requests and answers about messages.

import { Type } from 'typebox'
import {
  Attributes,
  Digits,
  exact,
  Flag,
  FormAttributes,
  FormId,
  Id,
  IsoTime,
  nullable,
  NullableString,
  UnixSeconds,
  Upload,
} from './basics.ts'
import { ContactPush } from './contact-schemas.ts'

export const UserPush = exact({
  id: Id,
  name: Type.String(),
  available_name: Type.String(),
  avatar_url: Type.String(),
  type: Type.Literal('user'),
  availability_status: Type.String(),
  thumbnail: Type.String(),
})
const BotPush = exact({
  id: Id,
  name: Type.String(),
  avatar_url: Type.String(),
  type: Type.Literal('agent_bot'),
})
export const SenderPush = Type.Union([ContactPush, UserPush, BotPush])

export const AttachmentBody = exact({
  id: Id,
  message_id: Id,
  file_type: Type.Union([Type.Literal('image'), Type.Literal('audio'), Type.Literal('video'), Type.Literal('file')]),
  account_id: Id,
  extension: NullableString,
  content_type: Type.String(),
  data_url: Type.String(),
  thumb_url: Type.String(),
  file_size: Type.Integer({ minimum: 0 }),
  width: nullable(Type.Integer()),
  height: nullable(Type.Integer()),
  transcribed_text: Type.Optional(Type.String()),
})

export const MessageTypeNumber = Type.Integer({ minimum: 0, maximum: 3 })
const StatusName = Type.Union([
  Type.Literal('sent'),
  Type.Literal('delivered'),
  Type.Literal('read'),
  Type.Literal('failed'),
])

export const MessageBody = exact({
  id: Id,
  content: NullableString,
  inbox_id: Id,
  echo_id: Type.Optional(Type.String()),
  conversation_id: Id,
  message_type: MessageTypeNumber,
  content_type: Type.String(),
  status: StatusName,
  content_attributes: Attributes,
  created_at: UnixSeconds,
  private: Type.Boolean(),
  source_id: NullableString,
  sender: Type.Optional(SenderPush),
  attachments: Type.Optional(Type.Array(AttachmentBody)),
})

/** The message inside a conversation. */
export const PushMessage = exact({
  id: Id,
  content: NullableString,
  account_id: Id,
  inbox_id: Id,
  conversation_id: Id,
  message_type: MessageTypeNumber,
  created_at: UnixSeconds,
  updated_at: IsoTime,
  private: Type.Boolean(),
  status: StatusName,
  source_id: NullableString,
  content_type: Type.String(),
  content_attributes: Attributes,
  sender_type: NullableString,
  sender_id: nullable(Id),
  external_source_ids: Attributes,
  additional_attributes: Attributes,
  processed_message_content: NullableString,
  sentiment: Attributes,
  conversation: exact({
    assignee_id: nullable(Id),
    unread_count: Type.Integer(),
    last_activity_at: UnixSeconds,
    contact_inbox: exact({ source_id: Type.String() }),
  }),
  attachments: Type.Optional(Type.Array(AttachmentBody)),
  sender: Type.Optional(SenderPush),
})

export const MessageCreate = exact({
  content: Type.Optional(NullableString),
  message_type: Type.Optional(Type.String()),
  private: Type.Optional(Flag),
  content_type: Type.Optional(Type.String()),
  content_attributes: Type.Optional(FormAttributes),
  source_id: Type.Optional(NullableString),
  external_created_at: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  echo_id: Type.Optional(Type.String()),
  sender_type: Type.Optional(Type.String()),
  sender_id: Type.Optional(FormId),
  campaign_id: Type.Optional(FormId),
  template_params: Type.Optional(Attributes),
  attachments: Type.Optional(Type.Array(Type.Union([Upload, Type.String()]))),
})
/** Chatwoot ignores the last three fields and answers 200. */
export const MessageUpdate = exact({
  status: Type.Optional(Type.String()),
  external_error: Type.Optional(NullableString),
  content: Type.Optional(Type.String()),
  source_id: Type.Optional(Type.String()),
  created_at: Type.Optional(Type.Unknown()),
})
export const MessageListQuery = exact({ before: Type.Optional(Digits), after: Type.Optional(Digits) })
