// The validations of the contact model.

import type { AccountRow, Attributes, ContactRow } from '../state/rows.ts'
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

export function validateContact(desk: Desk, account: AccountRow, params: ContactParams, self?: ContactRow): void {
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

export function normalEmail(email: string | null | undefined): string | null {
  return email ? email.toLowerCase() : null
}

function humanName(attribute: string): string {
  return attribute.charAt(0).toUpperCase() + attribute.slice(1).replaceAll('_', ' ')
}
