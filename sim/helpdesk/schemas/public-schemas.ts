// The schemas of requests and answers of the public client API.

import { Type } from 'typebox'
import { Attributes, exact, Id, nullable, NullableString, IsoTime, UnixSeconds } from './basics.ts'
import { StatusName } from './conversation-schemas.ts'
import { AttachmentBody, AttachmentParams, MessageTypeNumber, SenderPush } from './message-schemas.ts'

export const PublicContactParams = exact({
  source_id: Type.Optional(Type.String()),
  identifier: Type.Optional(Type.String()),
  identifier_hash: Type.Optional(Type.String()),
  email: Type.Optional(NullableString),
  name: Type.Optional(NullableString),
  phone_number: Type.Optional(NullableString),
  avatar_url: Type.Optional(Type.String()),
  custom_attributes: Type.Optional(Attributes),
})
export const PublicContact = exact({
  source_id: Type.String(),
  pubsub_token: Type.String(),
  id: Id,
  name: Type.String(),
  email: NullableString,
  phone_number: NullableString,
})
export const PublicContactRecord = exact({
  id: Id,
  name: Type.String(),
  email: NullableString,
  phone_number: NullableString,
  identifier: NullableString,
  blocked: Type.Boolean(),
  additional_attributes: Attributes,
  custom_attributes: Attributes,
  contact_type: Type.String(),
  country_code: Type.Null(),
  last_activity_at: nullable(IsoTime),
  created_at: IsoTime,
  updated_at: IsoTime,
  last_name: Type.String(),
  middle_name: Type.String(),
  location: Type.Null(),
  account_id: Id,
  company_id: Type.Null(),
  label_list: Type.Array(Type.String()),
})
export const PublicMessage = exact({
  id: Id,
  content: NullableString,
  message_type: MessageTypeNumber,
  content_type: Type.String(),
  content_attributes: Attributes,
  created_at: UnixSeconds,
  conversation_id: Id,
  attachments: Type.Optional(Type.Array(AttachmentBody)),
  sender: Type.Optional(SenderPush),
})
export const PublicConversation = exact({
  id: Id,
  uuid: Type.String(),
  inbox_id: Id,
  contact_last_seen_at: UnixSeconds,
  status: StatusName,
  agent_last_seen_at: UnixSeconds,
  messages: Type.Array(PublicMessage),
  contact: PublicContactRecord,
})
export const PublicConversationParams = exact({ custom_attributes: Type.Optional(Attributes) })
export const PublicMessageParams = exact({
  content: Type.Optional(NullableString),
  echo_id: Type.Optional(Type.String()),
  attachments: Type.Optional(AttachmentParams),
})
export const Submission = exact({ submitted_values: Type.Union([Attributes, Type.Array(Attributes)]) })
