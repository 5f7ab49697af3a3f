// Translates the snake_case parameters of requests into the names of the desk.

import type { Static } from 'typebox'
import { defined } from '../../defined.ts'
import type { ContactParams } from '../desk/validate-contact.ts'
import type { MessageParams } from '../desk/create-message.ts'
import type { Desk } from '../desk/desk.ts'
import type { InboxParams } from '../desk/inboxes.ts'
import { unprocessable } from '../desk/rails-error.ts'
import { UploadedFile } from '../desk/uploaded-file.ts'
import { isTrue, toAttributes } from '../schemas/basics.ts'
import type { ContactUpdate } from '../schemas/contact-schemas.ts'
import type { InboxUpdate } from '../schemas/inbox-schemas.ts'
import type { AttachmentParams, MessageCreate } from '../schemas/message-schemas.ts'
import type { HelpdeskState } from '../state/helpdesk-state.ts'
import type { BlobRow } from '../state/rows.ts'

export function contactParams(body: Static<typeof ContactUpdate>): ContactParams {
  return defined({
    name: body.name,
    email: body.email,
    phoneNumber: body.phone_number,
    identifier: body.identifier,
    blocked: body.blocked === undefined ? undefined : isTrue(body.blocked),
    additionalAttributes: body.additional_attributes ? toAttributes(body.additional_attributes) : undefined,
    customAttributes: body.custom_attributes ? toAttributes(body.custom_attributes) : undefined,
    avatar: body.avatar instanceof UploadedFile ? body.avatar : undefined,
    avatarUrl: body.avatar_url,
  })
}

export function messageParams({ state }: Desk, body: Static<typeof MessageCreate>): MessageParams {
  return defined({
    content: body.content ?? null,
    messageType: body.message_type,
    private: body.private === undefined ? undefined : isTrue(body.private),
    contentType: body.content_type,
    contentAttributes: body.content_attributes ? toAttributes(body.content_attributes) : undefined,
    sourceId: body.source_id,
    externalCreatedAt: body.external_created_at,
    files: filesOf(state, body.attachments),
  })
}

/** A text is the signed id of an earlier upload. */
export function filesOf(
  { blobs }: HelpdeskState,
  attachments: Static<typeof AttachmentParams> = [],
): (UploadedFile | BlobRow)[] {
  if (!Array.isArray(attachments)) {
    const type = attachments instanceof UploadedFile ? 'ActionDispatch::Http::UploadedFile' : 'String'
    throw unprocessable(`undefined method 'each' for an instance of ${type}`)
  }
  return attachments.map((one) => {
    const file = typeof one === 'string' ? blobs.get(one) : one
    if (!file) throw unprocessable('mismatched digest')
    return file
  })
}

export function inboxParams(body: Static<typeof InboxUpdate>): InboxParams {
  const { channel = {} } = body
  const flags = {
    greetingEnabled: body.greeting_enabled,
    workingHoursEnabled: body.working_hours_enabled,
    csatSurveyEnabled: body.csat_survey_enabled,
    enableAutoAssignment: body.enable_auto_assignment,
    enableEmailCollect: body.enable_email_collect,
    allowMessagesAfterResolved: body.allow_messages_after_resolved,
    lockToSingleConversation: body.lock_to_single_conversation,
    hmacMandatory: channel.hmac_mandatory,
  }
  const values = {
    name: body.name,
    greetingMessage: body.greeting_message,
    outOfOfficeMessage: body.out_of_office_message,
    timezone: body.timezone,
    senderNameType: body.sender_name_type,
    businessName: body.business_name,
    csatConfig: body.csat_config,
    webhookUrl: channel.webhook_url,
    channelAttributes: channel.additional_attributes,
  }
  const set = [
    ...Object.entries(flags).flatMap(([key, value]) => (value === undefined ? [] : [[key, isTrue(value)]])),
    ...Object.entries(values).filter(([, value]) => value !== undefined),
  ]
  return Object.fromEntries(set) as InboxParams
}
