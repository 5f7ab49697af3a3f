// Translates the snake_case parameters of requests into the names of the desk.

import type { Static } from 'typebox'
import type { ContactParams } from '../desk/contacts.ts'
import type { MessageParams } from '../desk/create-message.ts'
import type { InboxParams } from '../desk/inboxes.ts'
import { unprocessable } from '../desk/rails-error.ts'
import { UploadedFile } from '../desk/uploaded-file.ts'
import { isTrue, toAttributes } from '../schemas/basics.ts'
import type { ContactUpdate } from '../schemas/contact-schemas.ts'
import type { InboxUpdate } from '../schemas/inbox-schemas.ts'
import type { MessageCreate } from '../schemas/message-schemas.ts'

export function contactParams(body: Static<typeof ContactUpdate>): ContactParams {
  return {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.email === undefined ? {} : { email: body.email }),
    ...(body.phone_number === undefined ? {} : { phoneNumber: body.phone_number }),
    ...(body.identifier === undefined ? {} : { identifier: body.identifier }),
    ...(body.blocked === undefined ? {} : { blocked: isTrue(body.blocked) }),
    ...(body.additional_attributes ? { additionalAttributes: toAttributes(body.additional_attributes) } : {}),
    ...(body.custom_attributes ? { customAttributes: toAttributes(body.custom_attributes) } : {}),
    ...(body.avatar instanceof UploadedFile ? { avatar: body.avatar } : {}),
    ...(body.avatar_url === undefined ? {} : { avatarUrl: body.avatar_url }),
  }
}

export function messageParams(body: Static<typeof MessageCreate>): MessageParams {
  return {
    content: body.content ?? null,
    ...(body.message_type === undefined ? {} : { messageType: body.message_type }),
    ...(body.private === undefined ? {} : { private: isTrue(body.private) }),
    ...(body.content_type === undefined ? {} : { contentType: body.content_type }),
    ...(body.content_attributes ? { contentAttributes: toAttributes(body.content_attributes) } : {}),
    ...(body.source_id === undefined ? {} : { sourceId: body.source_id }),
    ...(body.external_created_at === undefined ? {} : { externalCreatedAt: body.external_created_at }),
    files: filesOf(body.attachments),
  }
}

/** Signed ids of earlier uploads are not simulated. */
export function filesOf(attachments: readonly (UploadedFile | string)[] = []): UploadedFile[] {
  return attachments.map((one) => {
    if (one instanceof UploadedFile) return one
    throw unprocessable('ActiveSupport::MessageVerifier::InvalidSignature')
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
