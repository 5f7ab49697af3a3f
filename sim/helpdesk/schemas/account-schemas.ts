// The schemas of requests and answers about the people and webhooks of an account.

import { Type } from 'typebox'
import { Attributes, exact, FormId, Id, IsoTime, nullable, NullableString } from './basics.ts'
import { AgentBody } from './conversation-schemas.ts'

export const AgentList = Type.Array(AgentBody)
export const MemberList = exact({ payload: Type.Array(AgentBody) })
export const MembersChange = exact({ inbox_id: FormId, user_ids: Type.Array(Id) })

export const AgentBotCreate = exact({
  name: Type.String(),
  description: Type.Optional(NullableString),
  outgoing_url: Type.Optional(NullableString),
  bot_type: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
  bot_config: Type.Optional(Attributes),
})
export const AgentBotChoice = exact({ agent_bot: Type.Optional(nullable(Id)) })
export const AgentBotBody = exact({
  id: Id,
  name: Type.String(),
  description: NullableString,
  thumbnail: Type.String(),
  outgoing_url: NullableString,
  bot_type: Type.String(),
  bot_config: Attributes,
  account_id: Id,
  access_token: Type.String(),
  secret: Type.String(),
  system_bot: Type.Boolean(),
})
export const InboxAgentBot = exact({ agent_bot: Type.Union([AgentBotBody, exact({})]) })

const Membership = exact({
  id: Id,
  name: Type.String(),
  status: Type.String(),
  onboarding_step: Type.Null(),
  active_at: Type.Null(),
  role: Type.String(),
  permissions: Type.Array(Type.String()),
  availability: Type.String(),
  availability_status: Type.String(),
  auto_offline: Type.Boolean(),
  custom_role_id: Type.Null(),
  custom_role: Type.Null(),
})
export const Profile = exact({
  id: Id,
  access_token: Type.String(),
  account_id: Id,
  available_name: Type.String(),
  avatar_url: Type.String(),
  confirmed: Type.Boolean(),
  display_name: Type.Null(),
  message_signature: Type.Null(),
  email: Type.String(),
  inviter_id: Type.Null(),
  provider: Type.String(),
  name: Type.String(),
  pubsub_token: Type.String(),
  role: Type.String(),
  ui_settings: Attributes,
  uid: Type.String(),
  type: Type.Null(),
  accounts: Type.Array(Membership),
})

export const AccountBody = exact({
  id: Id,
  name: Type.String(),
  locale: Type.String(),
  domain: NullableString,
  support_email: NullableString,
  status: Type.String(),
  created_at: IsoTime,
  cache_keys: Attributes,
  features: Attributes,
  settings: Attributes,
  custom_attributes: Attributes,
  latest_chatwoot_version: NullableString,
  subscribed_features: Type.Array(Type.String()),
})

const WebhookBody = exact({
  id: Id,
  name: NullableString,
  url: Type.String(),
  account_id: Id,
  subscriptions: Type.Array(Type.String()),
  secret: Type.String(),
})
export const WebhookPayload = exact({ payload: exact({ webhook: WebhookBody }) })
const webhook = exact({
  url: Type.String(),
  name: Type.Optional(Type.String()),
  subscriptions: Type.Optional(Type.Array(Type.String())),
})
/** Rails wraps the bare form into `webhook`. */
export const WebhookCreate = Type.Union([exact({ webhook }), webhook])

export const LabelBody = exact({
  id: Id,
  title: Type.String(),
  description: NullableString,
  color: Type.String(),
  show_on_sidebar: Type.Null(),
})
export const LabelList = exact({ payload: Type.Array(LabelBody) })
const label = exact({
  title: Type.String(),
  description: Type.Optional(NullableString),
  color: Type.Optional(Type.String()),
  show_on_sidebar: Type.Optional(Type.Boolean()),
})
/** Rails wraps the bare form into `label`. */
export const LabelCreate = Type.Union([exact({ label }), label])
