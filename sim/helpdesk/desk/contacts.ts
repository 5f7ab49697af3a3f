// Creates, changes and deletes contacts, with the validations of the model.

import type { Attributes, AccountRow, ContactInboxRow, ContactRow, InboxRow } from '../state/rows.ts'
import { saveAvatar, syncAvatarLater } from './contact-avatar.ts'
import { buildContactInbox, refuseTakenSource } from './contact-inboxes.ts'
import type { Desk } from './desk.ts'
import { crashed, recordInvalid } from './rails-error.ts'
import type { UploadedFile } from './uploaded-file.ts'

export type ContactParams = {
  name?: string | null
  email?: string | null
  phoneNumber?: string | null
  identifier?: string | null
  blocked?: boolean
  additionalAttributes?: Attributes
  customAttributes?: Attributes
  avatar?: UploadedFile
  avatarUrl?: string
}

export type NewContactInbox = { inbox: InboxRow; sourceId: string | undefined }

/** Creates the contact and its contact inbox in one transaction: a taken source_id leaves no contact behind. */
export function createContact(
  desk: Desk,
  account: AccountRow,
  params: ContactParams,
  wanted?: NewContactInbox,
): { contact: ContactRow; contactInbox: ContactInboxRow | null } {
  validate(desk, account, params)
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
  validate(desk, contact.account, params, contact)
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

function validate(desk: Desk, account: AccountRow, params: ContactParams, self?: ContactRow): void {
  const problems: { attribute: string; message: string }[] = []
  const complain = (attribute: string, message: string) => problems.push({ attribute, message })
  const isTaken = (field: 'email' | 'phoneNumber' | 'identifier', value: string) =>
    desk.state.contactsWith(account, field, value).some((one) => one !== self)
  const { phoneNumber, identifier } = params
  const email = normalEmail(params.email)
  if (email) {
    if (!/^[^@\s]+@[^@\s]+$/.test(email)) complain('email', 'Email Invalid email')
    if (isTaken('email', email)) complain('email', 'Email has already been taken')
  }
  if (identifier && isTaken('identifier', identifier)) complain('identifier', 'Identifier has already been taken')
  if (phoneNumber) {
    if (isTaken('phoneNumber', phoneNumber)) complain('phone_number', 'Phone number has already been taken')
    // Like Chatwoot's expression, this one is not anchored at the start.
    if (!/\+[1-9]\d{1,14}$/.test(phoneNumber)) complain('phone_number', 'Phone number should be in e164 format')
  }
  for (const [attribute, value] of Object.entries({ name: params.name, identifier, phone_number: phoneNumber })) {
    if ((value ?? '').length > 255)
      complain(attribute, `${humanName(attribute)} is too long (maximum is 255 characters)`)
  }
  if (problems.length > 0) {
    const attributes = new Set(problems.map((one) => one.attribute))
    throw recordInvalid(problems.map((one) => one.message).join(', '), [...attributes])
  }
  // The validation accepts an empty identifier, but the unique index refuses the second one.
  if (identifier === '' && isTaken('identifier', '')) throw crashed()
}

function normalEmail(email: string | null | undefined): string | null {
  return email ? email.toLowerCase() : null
}

function humanName(attribute: string): string {
  return attribute.charAt(0).toUpperCase() + attribute.slice(1).replaceAll('_', ' ')
}
