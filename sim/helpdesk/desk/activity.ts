// Activity messages: Chatwoot's own notes in a conversation. They never reach a webhook.

import type { ConversationRow, MessageRow } from '../state/rows.ts'
import type { Desk } from './desk.ts'

export function addActivity(desk: Desk, conversation: ConversationRow, content: string): MessageRow {
  return insertMessage(desk, conversation, { content, messageType: 'activity' })
}

export function insertMessage(
  desk: Desk,
  conversation: ConversationRow,
  values: Partial<MessageRow> & Pick<MessageRow, 'content' | 'messageType'>,
): MessageRow {
  const now = desk.clock.now()
  const message = desk.state.messages.insert(
    (id) => ({
      conversation,
      contentType: 'text',
      contentAttributes: {},
      private: false,
      status: 'sent',
      sourceId: null,
      sender: null,
      createdAt: now,
      insertedAt: now,
      updatedAt: now,
      attachments: [],
      ...values,
      id,
    }),
    values.id,
  )
  place(conversation.messages, message)
  conversation.lastActivityAt = message.createdAt
  return message
}

/** Inserts the message by its id: a row that is committed late has an older id. */
function place(messages: MessageRow[], message: MessageRow): void {
  const after = messages.findLastIndex((one) => one.id < message.id)
  messages.splice(after + 1, 0, message)
}
