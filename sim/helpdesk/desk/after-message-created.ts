// Runs the effects of a new message, in the order of the model's callbacks.

import type { ContactRow, MessageRow } from '../state/rows.ts'
import { changeConversation } from './change-conversation.ts'
import { touchContact } from './contacts.ts'
import type { Desk } from './desk.ts'
import { answerWithTemplates } from './templates.ts'
import { updateMessage } from './update-message.ts'

export function afterMessageCreated(desk: Desk, message: MessageRow): void {
  if (message.messageType === 'incoming') reopen(desk, message)
  if (message.messageType !== 'activity') desk.emit({ event: 'message_created', message })
  keepReplyTimes(desk, message)
  if (message.messageType === 'incoming') {
    noteActivity(desk, message.conversation.contact)
    answerWithTemplates(desk, message.conversation)
  }
  updateForAudio(desk, message)
}

function noteActivity(desk: Desk, contact: ContactRow): void {
  const { updatedAt, lastActivityAt } = contact
  contact.lastActivityAt = desk.clock.now()
  touchContact(desk, contact)
  const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString())
  const changed = [
    { updated_at: { previous_value: iso(updatedAt), current_value: iso(contact.updatedAt) } },
    { last_activity_at: { previous_value: iso(lastActivityAt), current_value: iso(contact.lastActivityAt) } },
  ]
  desk.emit({ event: 'contact_updated', contact, changed })
}

/** A pending conversation stays pending, and a blocked contact opens no conversation. */
function reopen(desk: Desk, { conversation }: MessageRow): void {
  if (conversation.contact.blocked) return
  if (conversation.status !== 'resolved' && conversation.status !== 'snoozed') return
  changeConversation(desk, conversation, { status: 'open', snoozedUntil: null }, 'incoming message')
}

/**
 * An incoming message starts the waiting time. A person's answer ends it; a message typed on the phone counts as an
 * answer.
 */
function keepReplyTimes(desk: Desk, message: MessageRow): void {
  const { conversation, createdAt } = message
  if (message.messageType === 'incoming') {
    if (conversation.waitingSince !== null) return
    changeConversation(desk, conversation, { waitingSince: createdAt }, 'system')
    return
  }
  if (message.messageType !== 'outgoing' || message.private || message.sender?.type !== 'User') return
  if ('automation_rule_id' in message.contentAttributes) return
  const isFirst = conversation.firstReplyCreatedAt === null
  const reply = isFirst ? { firstReplyCreatedAt: createdAt } : {}
  changeConversation(desk, conversation, { waitingSince: null, ...reply }, 'system')
}

/** The default images contain the enterprise folder. Its attachment model updates the message of every audio file. */
function updateForAudio(desk: Desk, message: MessageRow): void {
  for (const attachment of message.attachments) {
    if (attachment.fileType !== 'audio') continue
    if (desk.features.audioUpdate) desk.emit({ event: 'message_updated', message })
    if (!desk.features.transcription) continue
    desk.later(() => {
      attachment.transcribedText = 'a transcription'
      updateMessage(desk, message, {})
    })
  }
}
