// Helpdesk inboxes in Chatwoot's JSON: for people, as a bare row, and for the public API.

import type { Static } from 'typebox'
import { defaultWorkingHours } from '../desk/templates.ts'
import type { InboxBody, InboxRecord, PublicInbox } from '../schemas/inbox-schemas.ts'
import type { InboxRow } from '../state/rows.ts'
import { previewUrl } from './file-addresses.ts'
import type { FileAddresses } from './file-addresses.ts'
import { iso } from './times.ts'

export function inboxJson(files: FileAddresses, inbox: InboxRow, forAdmin: boolean): Static<typeof InboxBody> {
  const { channel } = inbox
  return {
    id: inbox.id,
    avatar_url: previewUrl(files, inbox.avatar),
    channel_id: channel.id,
    name: inbox.name,
    channel_type: inbox.channelType,
    ...settings(inbox),
    working_hours: [...defaultWorkingHours],
    callback_webhook_url: null,
    ...otherChannels,
    provider: null,
    hmac_mandatory: channel.hmacMandatory,
    ...(forAdmin ? { hmac_token: channel.hmacToken, secret: channel.secret } : {}),
    webhook_url: channel.webhookUrl,
    inbox_identifier: channel.identifier,
    additional_attributes: channel.additionalAttributes,
  }
}

export function inboxRecord(inbox: InboxRow): Static<typeof InboxRecord> {
  return {
    id: inbox.id,
    channel_id: inbox.channel.id,
    account_id: inbox.account.id,
    name: inbox.name,
    created_at: iso(inbox.createdAt),
    updated_at: iso(inbox.updatedAt),
    channel_type: inbox.channelType,
    email_address: null,
    portal_id: null,
    ...settings(inbox),
  }
}

export function publicInboxJson(inbox: InboxRow): Static<typeof PublicInbox> {
  return {
    identifier: inbox.channel.identifier,
    identity_validation_enabled: inbox.channel.hmacMandatory,
    name: inbox.name,
    timezone: inbox.timezone,
    working_hours: [...defaultWorkingHours],
    working_hours_enabled: inbox.workingHoursEnabled,
    csat_survey_enabled: inbox.csatSurveyEnabled,
    greeting_enabled: inbox.greetingEnabled,
  }
}

const otherChannels = {
  allowed_domains: null,
  widget_color: null,
  website_url: null,
  welcome_title: null,
  welcome_tagline: null,
  web_widget_script: null,
  website_token: null,
  selected_feature_flags: null,
  reply_time: null,
  messaging_service_sid: null,
  phone_number: null,
}

function settings(inbox: InboxRow) {
  return {
    greeting_enabled: inbox.greetingEnabled,
    greeting_message: inbox.greetingMessage,
    working_hours_enabled: inbox.workingHoursEnabled,
    enable_email_collect: inbox.enableEmailCollect,
    csat_survey_enabled: inbox.csatSurveyEnabled,
    csat_config: inbox.csatConfig,
    enable_auto_assignment: inbox.enableAutoAssignment,
    auto_assignment_config: {},
    out_of_office_message: inbox.outOfOfficeMessage,
    timezone: inbox.timezone,
    allow_messages_after_resolved: inbox.allowMessagesAfterResolved,
    lock_to_single_conversation: inbox.lockToSingleConversation,
    sender_name_type: inbox.senderNameType,
    business_name: inbox.businessName,
  }
}
