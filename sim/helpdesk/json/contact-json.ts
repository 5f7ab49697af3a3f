// Contacts in Chatwoot's JSON: in lists, as senders, and in webhooks.

import type { Static } from 'typebox'
import type { ContactBody, ContactInboxBody, ContactPush, SlimInbox } from '../schemas/contact-schemas.ts'
import type { ContactHook } from '../schemas/webhook-schemas.ts'
import type { ContactInboxRow, ContactRow, InboxRow } from '../state/rows.ts'
import { previewUrl } from './file-addresses.ts'
import type { FileAddresses } from './file-addresses.ts'
import { unix } from './times.ts'

export function contactJson(
  files: FileAddresses,
  contact: ContactRow,
  withInboxes: boolean,
): Static<typeof ContactBody> {
  return {
    additional_attributes: contact.additionalAttributes,
    availability_status: 'offline',
    email: contact.email,
    id: contact.id,
    name: contact.name,
    phone_number: contact.phoneNumber,
    blocked: contact.blocked,
    identifier: contact.identifier,
    thumbnail: previewUrl(files, contact.avatar),
    custom_attributes: contact.customAttributes,
    ...(contact.lastActivityAt === null ? {} : { last_activity_at: unix(contact.lastActivityAt) }),
    created_at: unix(contact.createdAt),
    ...(withInboxes ? { contact_inboxes: contact.contactInboxes.map((one) => contactInboxJson(files, one)) } : {}),
  }
}

export function contactInboxJson(
  files: FileAddresses,
  { sourceId, inbox }: Pick<ContactInboxRow, 'sourceId' | 'inbox'>,
): Static<typeof ContactInboxBody> {
  return { source_id: sourceId, inbox: slimInboxJson(files, inbox) }
}

function slimInboxJson(files: FileAddresses, inbox: InboxRow): Static<typeof SlimInbox> {
  return {
    id: inbox.id,
    avatar_url: previewUrl(files, inbox.avatar),
    channel_id: inbox.channel.id,
    name: inbox.name,
    channel_type: 'Channel::Api',
    provider: null,
  }
}

export function contactPush(files: FileAddresses, contact: ContactRow): Static<typeof ContactPush> {
  return { ...sharedFields(files, contact), type: 'contact' }
}

/** In webhooks a contact has no type. A receiver knows a contact from a user by that. */
export function contactHook(files: FileAddresses, contact: ContactRow): Static<typeof ContactHook> {
  return {
    account: { id: contact.account.id, name: contact.account.name },
    avatar: previewUrl(files, contact.avatar),
    ...sharedFields(files, contact),
  }
}

function sharedFields(files: FileAddresses, contact: ContactRow): Omit<Static<typeof ContactPush>, 'type'> {
  return {
    additional_attributes: contact.additionalAttributes,
    custom_attributes: contact.customAttributes,
    email: contact.email,
    id: contact.id,
    identifier: contact.identifier,
    name: contact.name,
    phone_number: contact.phoneNumber,
    thumbnail: previewUrl(files, contact.avatar),
    blocked: contact.blocked,
  }
}
