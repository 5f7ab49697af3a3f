// Writes Chatwoot's own messages: the greeting, the out-of-office message, and the survey after a resolve.

import type { ConversationRow, InboxRow } from '../state/rows.ts'
import { insertMessage } from './activity.ts'
import type { Desk } from './desk.ts'
import { renderLiquid } from './render-liquid.ts'

export function answerWithTemplates(desk: Desk, conversation: ConversationRow): void {
  const { inbox, messages } = conversation
  const today = desk.clock.now() - (desk.clock.now() % 86_400_000)
  const hasTemplateToday = messages.some((one) => one.messageType === 'template' && one.createdAt >= today)
  const recently = desk.clock.now() - 300_000
  const isAnswered = messages.some((one) => one.messageType === 'outgoing' && one.createdAt > recently)
  if (isOutOfOffice(desk, inbox) && inbox.outOfOfficeMessage && !hasTemplateToday && !isAnswered) {
    addTemplate(desk, conversation, inbox.outOfOfficeMessage)
  }
  const isFirst = messages.every((one) => one.messageType !== 'outgoing' && one.messageType !== 'template')
  if (inbox.greetingEnabled && inbox.greetingMessage && isFirst) {
    addTemplate(desk, conversation, inbox.greetingMessage)
  }
}

/** A helpdesk inbox with surveys asks after every resolve, also in a conversation without messages. */
export function askForRating(desk: Desk, conversation: ConversationRow): void {
  if (!conversation.inbox.csatSurveyEnabled) return
  const message = insertMessage(desk, conversation, {
    content: 'Please rate the conversation',
    messageType: 'template',
    contentType: 'input_csat',
    contentAttributes: desk.features.renderedWebhookContent ? { display_type: 'emoji' } : {},
  })
  desk.emit({ event: 'message_created', message })
}

function addTemplate(desk: Desk, conversation: ConversationRow, content: string): void {
  const message = insertMessage(desk, conversation, {
    content: renderLiquid(content, { conversation, sender: null }),
    messageType: 'template',
  })
  desk.emit({ event: 'message_created', message })
}

type WorkingHours = {
  day_of_week: number
  closed_all_day: boolean
  open_hour: number | null
  open_minutes: number | null
  close_hour: number | null
  close_minutes: number | null
  open_all_day: boolean
}

/** The hours of a new helpdesk inbox: Monday to Friday from 9 to 17. */
export const defaultWorkingHours: readonly WorkingHours[] = [0, 1, 2, 3, 4, 5, 6].map((day) => {
  const isClosed = day === 0 || day === 6
  return {
    day_of_week: day,
    closed_all_day: isClosed,
    open_hour: isClosed ? null : 9,
    open_minutes: isClosed ? null : 0,
    close_hour: isClosed ? null : 17,
    close_minutes: isClosed ? null : 0,
    open_all_day: false,
  }
})

function isOutOfOffice(desk: Desk, inbox: InboxRow): boolean {
  if (!inbox.workingHoursEnabled) return false
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: inbox.timezone,
    weekday: 'short',
    hour: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(desk.clock.now())
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? ''
  const hour = Number(part('hour'))
  return ['Sat', 'Sun'].includes(part('weekday')) || hour < 9 || hour >= 17
}
