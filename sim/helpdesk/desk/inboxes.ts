// Creates API inboxes with their three secrets, and changes their settings.

import type { AccountRow, Attributes, InboxRow } from '../state/rows.ts'
import type { Desk } from './desk.ts'
import { recordInvalid } from './rails-error.ts'

export type InboxParams = Partial<
  Omit<InboxRow, 'id' | 'account' | 'channel' | 'avatar' | 'memberIds' | 'agentBot' | 'createdAt' | 'updatedAt'>
> & { webhookUrl?: string | null; hmacMandatory?: boolean; channelAttributes?: Attributes }

export function createInbox(desk: Desk, account: AccountRow, params: InboxParams & { name: string }): InboxRow {
  validate(params)
  const now = desk.clock.now()
  const inbox: InboxRow = desk.state.inboxes.insert((id) => ({
    id,
    account,
    channel: {
      id,
      webhookUrl: null,
      identifier: desk.choices.token('inbox identifier', id),
      hmacToken: desk.choices.token('inbox hmac', id),
      hmacMandatory: false,
      secret: desk.choices.token('inbox secret', id),
      additionalAttributes: {},
    },
    channelType: 'Channel::Api',
    name: params.name,
    avatar: null,
    greetingEnabled: false,
    greetingMessage: null,
    workingHoursEnabled: false,
    outOfOfficeMessage: null,
    timezone: 'UTC',
    csatSurveyEnabled: false,
    enableAutoAssignment: true,
    enableEmailCollect: true,
    allowMessagesAfterResolved: true,
    lockToSingleConversation: false,
    senderNameType: 'friendly',
    businessName: null,
    csatConfig: {},
    memberIds: new Set<number>(),
    agentBot: null,
    createdAt: now,
    updatedAt: now,
  }))
  updateInbox(desk, inbox, params)
  return inbox
}

export function updateInbox(desk: Desk, inbox: InboxRow, params: InboxParams): void {
  validate(params)
  const { webhookUrl, hmacMandatory, channelAttributes, ...own } = params
  Object.assign(inbox, own)
  if (webhookUrl !== undefined) inbox.channel.webhookUrl = webhookUrl || null
  if (hmacMandatory !== undefined) inbox.channel.hmacMandatory = hmacMandatory
  if (channelAttributes !== undefined) inbox.channel.additionalAttributes = channelAttributes
  inbox.updatedAt = desk.clock.now()
}

export function resetSecret(desk: Desk, inbox: InboxRow): void {
  inbox.channel.secret = desk.choices.token('inbox secret', inbox.id, inbox.channel.secret)
}

function validate({ name, webhookUrl, channelAttributes = {} }: InboxParams): void {
  if (name?.trim() === '') throw recordInvalid("Name can't be blank", ['name'])
  if ((webhookUrl ?? '').length > 2048) {
    throw recordInvalid('Webhook url is too long (maximum is 2048 characters)', ['webhook_url'])
  }
  const hours = channelAttributes['agent_reply_time_window']
  if (hours !== undefined && !(Number(hours) > 0)) {
    throw recordInvalid('Agent reply time window agent_reply_time_window must be greater than 0', [
      'agent_reply_time_window',
    ])
  }
}
