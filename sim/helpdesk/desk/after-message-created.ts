// Runs the effects of a new message, in the order of the model's callbacks.

import type { Author, ContactRow, ConversationStatus, MessageRow } from '../state/rows.ts'
import { changeConversation } from './change-conversation.ts'
import { touchContact } from './contacts.ts'
import type { Desk } from './desk.ts'
import { answerWithTemplates } from './templates.ts'
import { updateMessage } from './update-message.ts'

/** The author owns the token of the request, also when the contact is the sender. */
export function afterMessageCreated(
  desk: Desk,
  message: MessageRow,
  author: Author | null,
  readStatus: ConversationStatus = message.conversation.status,
): void {
  // A parallel request has reopened the conversation. This one writes the status that it read, and reopens it again.
  const isReopenedTwice = message.messageType === 'incoming' && readStatus === 'resolved'
  if (isReopenedTwice) message.conversation.status = readStatus
  if (message.messageType === 'incoming') reopen(desk, message, author)
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
function reopen(desk: Desk, { conversation }: MessageRow, author: Author | null): void {
  if (conversation.contact.blocked) return
  if (conversation.status === 'snoozed') {
    const by = author?.type === 'User' ? author.user : 'system'
    changeConversation(desk, conversation, { status: 'open', snoozedUntil: null }, by)
  }
  if (conversation.status === 'resolved') {
    const status = conversation.inbox.agentBot ? 'pending' : 'open'
    changeConversation(desk, conversation, { status }, 'incoming message')
  }
}

/**
 * An incoming message starts the waiting time. An answer of a person or a bot ends it. A person's answer, also one
 * typed on the phone, can be the first reply.
 */
function keepReplyTimes(desk: Desk, message: MessageRow): void {
  const { conversation, createdAt } = message
  if (message.messageType === 'incoming') {
    if (conversation.waitingSince !== null) return
    changeConversation(desk, conversation, { waitingSince: createdAt }, 'system')
    return
  }
  if (message.messageType !== 'outgoing' || message.private || message.sender === null) return
  if ('automation_rule_id' in message.contentAttributes) return
  const isFirst = message.sender.type === 'User' && conversation.firstReplyCreatedAt === null
  const reply = isFirst ? { firstReplyCreatedAt: createdAt } : {}
  changeConversation(desk, conversation, { ...reply, waitingSince: null }, 'system')
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
