// The schemas of requests and answers about helpdesk inboxes.

import { Type } from 'typebox'
import { Attributes, exact, Flag, Id, IsoTime, nullable, NullableString, Upload } from './basics.ts'

const WorkingHours = exact({
  day_of_week: Type.Integer(),
  closed_all_day: Type.Boolean(),
  open_hour: nullable(Type.Integer()),
  open_minutes: nullable(Type.Integer()),
  close_hour: nullable(Type.Integer()),
  close_minutes: nullable(Type.Integer()),
  open_all_day: Type.Boolean(),
})

const ChannelType = Type.Union([Type.Literal('Channel::Api'), Type.Literal('Channel::WebWidget')])

/** Every helpdesk inbox shows the keys of all channels. Those of other channels are null. */
const otherChannels = {
  allowed_domains: Type.Null(),
  widget_color: Type.Null(),
  website_url: Type.Null(),
  welcome_title: Type.Null(),
  welcome_tagline: Type.Null(),
  web_widget_script: Type.Null(),
  website_token: Type.Null(),
  selected_feature_flags: Type.Null(),
  reply_time: Type.Null(),
  messaging_service_sid: Type.Null(),
  phone_number: Type.Null(),
}

/** Only administrators get hmac_token and secret. */
export const InboxBody = exact({
  id: Id,
  avatar_url: Type.String(),
  channel_id: Id,
  name: Type.String(),
  channel_type: ChannelType,
  greeting_enabled: Type.Boolean(),
  greeting_message: NullableString,
  working_hours_enabled: Type.Boolean(),
  enable_email_collect: Type.Boolean(),
  csat_survey_enabled: Type.Boolean(),
  csat_config: Attributes,
  enable_auto_assignment: Type.Boolean(),
  auto_assignment_config: Attributes,
  out_of_office_message: NullableString,
  working_hours: Type.Array(WorkingHours),
  timezone: Type.String(),
  callback_webhook_url: Type.Null(),
  allow_messages_after_resolved: Type.Boolean(),
  lock_to_single_conversation: Type.Boolean(),
  sender_name_type: Type.String(),
  business_name: NullableString,
  ...otherChannels,
  provider: Type.Null(),
  hmac_mandatory: Type.Boolean(),
  hmac_token: Type.Optional(Type.String()),
  secret: Type.Optional(Type.String()),
  webhook_url: NullableString,
  inbox_identifier: Type.String(),
  additional_attributes: Attributes,
})
export const InboxList = exact({ payload: Type.Array(InboxBody) })

/** The bare row, as in the answer to a new contact. */
export const InboxRecord = exact({
  id: Id,
  channel_id: Id,
  account_id: Id,
  name: Type.String(),
  created_at: IsoTime,
  updated_at: IsoTime,
  channel_type: ChannelType,
  enable_auto_assignment: Type.Boolean(),
  greeting_enabled: Type.Boolean(),
  greeting_message: NullableString,
  email_address: Type.Null(),
  working_hours_enabled: Type.Boolean(),
  out_of_office_message: NullableString,
  timezone: Type.String(),
  enable_email_collect: Type.Boolean(),
  csat_survey_enabled: Type.Boolean(),
  allow_messages_after_resolved: Type.Boolean(),
  auto_assignment_config: Attributes,
  lock_to_single_conversation: Type.Boolean(),
  portal_id: Type.Null(),
  sender_name_type: Type.String(),
  business_name: NullableString,
  csat_config: Attributes,
})

const inboxParams = {
  avatar: Type.Optional(Upload),
  greeting_enabled: Type.Optional(Flag),
  greeting_message: Type.Optional(NullableString),
  enable_email_collect: Type.Optional(Flag),
  csat_survey_enabled: Type.Optional(Flag),
  csat_config: Type.Optional(Attributes),
  enable_auto_assignment: Type.Optional(Flag),
  working_hours_enabled: Type.Optional(Flag),
  out_of_office_message: Type.Optional(NullableString),
  timezone: Type.Optional(Type.String()),
  allow_messages_after_resolved: Type.Optional(Flag),
  lock_to_single_conversation: Type.Optional(Flag),
  portal_id: Type.Optional(nullable(Type.Integer())),
  sender_name_type: Type.Optional(Type.String()),
  business_name: Type.Optional(NullableString),
}
const channelParams = {
  webhook_url: Type.Optional(NullableString),
  hmac_mandatory: Type.Optional(Flag),
  additional_attributes: Type.Optional(Attributes),
}
export const InboxCreate = exact({
  name: Type.Optional(Type.String()),
  ...inboxParams,
  channel: Type.Optional(exact({ type: Type.Literal('api'), ...channelParams })),
})
export const InboxUpdate = exact({
  name: Type.Optional(Type.String()),
  ...inboxParams,
  channel: Type.Optional(exact(channelParams)),
})
export const DeletionNotice = exact({ message: Type.String() })

export const PublicInbox = exact({
  identifier: Type.String(),
  identity_validation_enabled: Type.Boolean(),
  name: Type.String(),
  timezone: Type.String(),
  working_hours: Type.Array(WorkingHours),
  working_hours_enabled: Type.Boolean(),
  csat_survey_enabled: Type.Boolean(),
  greeting_enabled: Type.Boolean(),
})
