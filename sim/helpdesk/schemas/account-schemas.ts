// The schemas of requests and answers about the people and webhooks of an account.

import { Type } from 'typebox'
import { Attributes, exact, Id, IsoTime, NullableString } from './basics.ts'
import { AgentBody } from './conversation-schemas.ts'

export const AgentList = Type.Array(AgentBody)
export const MemberList = exact({ payload: Type.Array(AgentBody) })
export const MembersChange = exact({ inbox_id: Id, user_ids: Type.Array(Id) })

export const Profile = exact({
  id: Id,
  access_token: Type.String(),
  account_id: Id,
  available_name: Type.String(),
  avatar_url: Type.String(),
  confirmed: Type.Boolean(),
  email: Type.String(),
  provider: Type.String(),
  name: Type.String(),
  role: Type.String(),
  type: Type.Null(),
  accounts: Type.Array(exact({ id: Id, name: Type.String(), status: Type.String(), role: Type.String() })),
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
