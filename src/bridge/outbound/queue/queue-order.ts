// Says in which order stored rows are queued after a restart.
//
// Row ids sort in the order of acceptance. The messages of a burst can be stored before their turn, so their row ids do not
// say in which order they were written. The message ids of the helpdesk do. Rows of one conversation therefore change places
// with one another until their messages are in order. All other rows keep their places: rows of another conversation with the
// same person, and rows without a message id.
//
// A revoke must stay behind its message, and no message changes places across a revoke of its chat.

import { getOrCreate } from '../../../lib/keyed.ts'
import type { LiveRow } from '../../../storage/stores/messages/outbox-rows.ts'

type Ordered = Pick<LiveRow, 'id' | 'kind' | 'chatId' | 'destination' | 'conversationId' | 'messageId'>

type Placed<Row> = { places: number[]; messages: { messageId: number; row: Row }[] }

/** Takes the rows in the order of acceptance. */
export function inQueueOrder<Row extends Ordered>(rows: readonly Row[]): Row[] {
  const ordered = [...rows]
  for (const { places, messages } of conversationsOf(rows).values()) {
    messages.sort((one, two) => one.messageId - two.messageId)
    for (const [n, { row }] of messages.entries()) ordered[places[n] ?? 0] = row
  }
  return ordered
}

/** The messages of each conversation, with a new entry after each revoke of the chat. */
function conversationsOf<Row extends Ordered>(rows: readonly Row[]): Map<string, Placed<Row>> {
  const revokes = new Map<string, number>()
  const conversations = new Map<string, Placed<Row>>()
  for (const [place, row] of rows.entries()) {
    const { kind, chatId, destination, conversationId, messageId } = row
    const revoked = revokes.get(chatId) ?? 0
    if (kind === 'revoke') revokes.set(chatId, revoked + 1)
    else if (conversationId !== null && messageId !== null) {
      const key = `${conversationId} ${chatId} ${revoked} ${destination}`
      const placed = getOrCreate(conversations, key, (): Placed<Row> => ({ places: [], messages: [] }))
      placed.places.push(place)
      placed.messages.push({ messageId, row })
    }
  }
  return conversations
}
