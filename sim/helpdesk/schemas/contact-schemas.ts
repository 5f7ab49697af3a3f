// The schemas of requests and answers about contacts.

import { Type } from 'typebox'
import {
  Attributes,
  Digits,
  exact,
  Flag,
  FormAttributes,
  FormId,
  Id,
  nullable,
  NullableString,
  UnixSeconds,
  Upload,
} from './basics.ts'
import { InboxRecord } from './inbox-schemas.ts'

export const SlimInbox = exact({
  id: Id,
  avatar_url: Type.String(),
  channel_id: Id,
  name: Type.String(),
  channel_type: Type.Literal('Channel::Api'),
  provider: Type.Null(),
})

export const ContactInboxBody = exact({ source_id: Type.String(), inbox: SlimInbox })

export const ContactBody = exact({
  additional_attributes: Attributes,
  availability_status: Type.Union([Type.Literal('online'), Type.Literal('offline')]),
  email: NullableString,
  id: Id,
  name: Type.String(),
  phone_number: NullableString,
  blocked: Type.Boolean(),
  identifier: NullableString,
  thumbnail: Type.String(),
  custom_attributes: Attributes,
  last_activity_at: Type.Optional(UnixSeconds),
  created_at: UnixSeconds,
  contact_inboxes: Type.Optional(Type.Array(ContactInboxBody)),
})

/** The fields that a contact has as a sender and in webhooks. */
export const contactFields = {
  additional_attributes: Attributes,
  custom_attributes: Attributes,
  email: NullableString,
  id: Id,
  identifier: NullableString,
  name: Type.String(),
  phone_number: NullableString,
  thumbnail: Type.String(),
  blocked: Type.Boolean(),
}
/** The contact as the sender of a message. */
export const ContactPush = exact({ ...contactFields, type: Type.Literal('contact') })

const contactParams = {
  name: Type.Optional(NullableString),
  identifier: Type.Optional(NullableString),
  email: Type.Optional(NullableString),
  phone_number: Type.Optional(NullableString),
  avatar: Type.Optional(Upload),
  avatar_url: Type.Optional(Type.String()),
  blocked: Type.Optional(Flag),
  additional_attributes: Type.Optional(FormAttributes),
  custom_attributes: Type.Optional(FormAttributes),
}
export const ContactUpdate = exact(contactParams)
export const ContactCreate = exact({
  ...contactParams,
  inbox_id: Type.Optional(FormId),
  source_id: Type.Optional(Type.String()),
})

const withInboxes = { include_contact_inboxes: Type.Optional(Type.String()) }
export const ContactQuery = exact(withInboxes)
export const ContactListQuery = exact({
  page: Type.Optional(Digits),
  sort: Type.Optional(Type.String()),
  'labels[]': Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  ...withInboxes,
})
export const ContactSearchQuery = exact({
  q: Type.Optional(Type.String()),
  page: Type.Optional(Digits),
  sort: Type.Optional(Type.String()),
  ...withInboxes,
})
export const ContactFilterQuery = exact({
  page: Type.Optional(Digits),
  sort: Type.Optional(Type.String()),
  ...withInboxes,
})

export const FilterBody = exact({
  payload: Type.Optional(
    Type.Array(
      exact({
        attribute_key: Type.String(),
        filter_operator: Type.String(),
        values: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))),
        query_operator: Type.Optional(NullableString),
        custom_attribute_type: Type.Optional(Type.String()),
      }),
    ),
  ),
})
export const ContactInboxFilter = exact({ inbox_id: Type.Optional(Id), source_id: Type.Optional(Type.String()) })
export const ContactInboxCreate = exact({
  inbox_id: Id,
  source_id: Type.Optional(Type.String()),
  hmac_verified: Type.Optional(Type.Boolean()),
})
export const MergeBody = exact({ base_contact_id: Id, mergee_contact_id: Id })
export const LabelsBody = exact({ labels: Type.Array(Type.String()) })
export const LabelsPayload = exact({ payload: Type.Array(Type.String()) })

const page = Type.Union([Type.String(), Type.Integer()])
export const ContactList = exact({
  meta: exact({ count: Type.Integer(), current_page: page }),
  payload: Type.Array(ContactBody),
})
export const ContactSearchResult = exact({
  meta: exact({
    count: nullable(Type.Integer()),
    current_page: page,
    has_more: Type.Optional(nullable(Type.Boolean())),
  }),
  payload: Type.Array(ContactBody),
})
export const ContactPayload = exact({ payload: ContactBody })
export const ContactCreated = exact({
  payload: exact({
    contact: ContactBody,
    contact_inbox: exact({ inbox: nullable(InboxRecord), source_id: NullableString }),
  }),
})
export const ContactableInboxes = exact({ payload: Type.Array(ContactInboxBody) })
