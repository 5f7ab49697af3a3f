// Creates, changes and deletes contacts, with the validations of the model.

import type { AccountRow, ContactInboxRow, ContactRow, InboxRow } from '../state/rows.ts'
import { saveAvatar, syncAvatarLater } from './contact-avatar.ts'
import { buildContactInbox, refuseTakenSource } from './contact-inboxes.ts'
import type { Desk } from './desk.ts'
import { crashed, recordInvalid } from './rails-error.ts'
import { normalEmail, validateContact } from './validate-contact.ts'
import type { ContactParams } from './validate-contact.ts'

export type NewContactInbox = { inbox: InboxRow; sourceId: string | undefined }

export type CreatedContact = { contact: ContactRow; contactInbox: ContactInboxRow | null }

export function createContact(
  desk: Desk,
  account: AccountRow,
  params: ContactParams,
  wanted?: NewContactInbox,
): CreatedContact {
  validateContact(desk, account, params)
  return insertContact(desk, account, params, wanted)
}

/**
 * Creates the contact and its contact inbox in one transaction: a taken source_id leaves no contact behind. The database
 * has a unique index on identifiers and none on phone numbers, so parallel requests can store one number twice.
 */
export function insertContact(
  desk: Desk,
  account: AccountRow,
  params: ContactParams,
  wanted?: NewContactInbox,
): CreatedContact {
  const { identifier } = params
  if (identifier && desk.state.contactsWith(account, 'identifier', identifier).length > 0) {
    throw recordInvalid('Identifier has already been taken', ['identifier'])
  }
  if (wanted?.sourceId !== undefined) refuseTakenSource(desk, wanted.inbox, wanted.sourceId, crashed)
  const now = desk.clock.now()
  const contact = desk.state.contacts.insert((id) => ({
    id,
    account,
    name: params.name ?? '',
    email: normalEmail(params.email),
    phoneNumber: params.phoneNumber ?? null,
    identifier: params.identifier ?? null,
    blocked: params.blocked ?? false,
    additionalAttributes: { ...params.additionalAttributes },
    customAttributes: { ...params.customAttributes },
    labels: [],
    avatar: params.avatar ? saveAvatar(desk, params.avatar) : null,
    lastActivityAt: null,
    createdAt: now,
    updatedAt: now,
    version: 0,
    contactInboxes: [],
  }))
  desk.state.indexContact(contact)
  desk.emit({ event: 'contact_created', contact })
  if (params.avatarUrl !== undefined) syncAvatarLater(desk, contact, params.avatarUrl)
  const contactInbox = wanted
    ? buildContactInbox(desk, { contact, inbox: wanted.inbox, sourceId: wanted.sourceId, taken: crashed })
    : null
  return { contact, contactInbox }
}

export function updateContact(desk: Desk, contact: ContactRow, params: ContactParams): void {
  validateContact(desk, contact.account, params, contact)
  desk.state.unindexContact(contact)
  if (params.name !== undefined) contact.name = params.name ?? ''
  if (params.email !== undefined) contact.email = normalEmail(params.email)
  if (params.phoneNumber !== undefined) contact.phoneNumber = params.phoneNumber
  if (params.identifier !== undefined) contact.identifier = params.identifier
  if (params.blocked !== undefined) contact.blocked = params.blocked
  contact.additionalAttributes = { ...contact.additionalAttributes, ...params.additionalAttributes }
  contact.customAttributes = { ...contact.customAttributes, ...params.customAttributes }
  if (params.avatar) contact.avatar = saveAvatar(desk, params.avatar)
  desk.state.indexContact(contact)
  touchContact(desk, contact)
  desk.emit({ event: 'contact_updated', contact })
  if (params.avatarUrl !== undefined) syncAvatarLater(desk, contact, params.avatarUrl)
}

export function touchContact(desk: Desk, contact: ContactRow): void {
  contact.updatedAt = desk.clock.now()
  contact.version += 1
}

/** True for a contact that Chatwoot calls resolved. A group has only an identifier and is not listed. */
export function isListed(desk: Desk, contact: ContactRow): boolean {
  const isLead = Boolean(contact.email) || Boolean(contact.phoneNumber)
  return desk.settings.crmV2 ? isLead : isLead || Boolean(contact.identifier)
}
