// Changes a stored message: its status, its deletion, the agent's Retry. The text cannot be edited.

import { messageStatuses } from '../state/rows.ts'
import type { Attributes, ConversationRow, MessageRow, MessageStatus } from '../state/rows.ts'
import type { Desk } from './desk.ts'
import { isFlooded } from './message-flood.ts'
import { recordInvalid } from './rails-error.ts'

type Changes = Partial<Pick<MessageRow, 'content' | 'contentType' | 'contentAttributes' | 'status' | 'attachments'>>

/** The flood limit is a validation, so it also refuses updates. `shown` are the attributes in the webhook. */
export function updateMessage(desk: Desk, message: MessageRow, changes: Changes, shown?: Attributes): void {
  if (isFlooded(desk, message.conversation)) throw recordInvalid('Too many messages', ['base'])
  Object.assign(message, changes)
  message.updatedAt = desk.clock.now()
  if (message.messageType === 'activity') return
  desk.emit({ event: 'message_updated', message, ...(shown && { contentAttributes: shown }) })
}

/** Ignores an unknown status and the step from read back to delivered. Both give no error. */
export function setStatus(desk: Desk, message: MessageRow, name: string, externalError: string | undefined): void {
  const status = messageStatuses.find((one) => one === name)
  if (!status || (message.status === 'read' && status === 'delivered')) return
  const contentAttributes = withError(message.contentAttributes, status, externalError)
  const isSame =
    message.status === status && message.contentAttributes['external_error'] === contentAttributes['external_error']
  if (!isSame) updateMessage(desk, message, { status, contentAttributes })
}

function withError(attributes: Attributes, status: MessageStatus, externalError: string | undefined): Attributes {
  const error = status === 'failed' ? (externalError ?? null) : null
  // Chatwoot clears the error with null and keeps the key.
  const isWritten = error !== null || 'external_error' in attributes
  return isWritten ? { ...attributes, external_error: error } : attributes
}

/** A second deletion changes nothing and reports nothing. */
export function deleteMessage(desk: Desk, message: MessageRow): void {
  if (message.contentAttributes['deleted'] === true) return
  for (const { blob } of message.attachments) desk.state.blobs.delete(blob.key)
  updateMessage(desk, message, {
    content: 'This message was deleted',
    contentType: 'text',
    contentAttributes: { deleted: true },
    attachments: [],
  })
}

/**
 * In an API inbox a Retry sends nothing: it sets the status, then it empties the attributes, so a reply loses its
 * original. Both steps emit message_updated. A sent message without attributes emits nothing.
 */
export function retryMessage(desk: Desk, message: MessageRow): void {
  const before = message.contentAttributes
  const isEmpty = Object.keys(before).length === 0
  if (isEmpty && message.status === 'sent') return
  const isTwice = desk.choices.chance(desk.settings.quirks.retryTwice, 'retry', message.id, message.updatedAt)
  if (isTwice && !isEmpty) {
    const contentAttributes = withError(before, 'sent', undefined)
    updateMessage(desk, message, { status: 'sent', contentAttributes }, contentAttributes)
  }
  updateMessage(desk, message, { status: 'sent', contentAttributes: {} })
}

/** A later job marks every message to the contact as read. */
export function markReadByContact(desk: Desk, conversation: ConversationRow): void {
  const now = desk.clock.now()
  conversation.contactLastSeenAt = now
  desk.later(() => {
    for (const message of conversation.messages) {
      const isOpen = message.status === 'sent' || message.status === 'delivered'
      if (message.messageType !== 'incoming' && isOpen && message.createdAt <= now) {
        updateMessage(desk, message, { status: 'read' })
      }
    }
  })
}
