// Reads the newest messages of a conversation that may be very long.

import type { ListedMessage } from '../core/helpdesk/message.ts'
import type { JobInbox } from './helpdesk-questions.ts'

const mostMessages = 200
/** So many ids hold at most so many messages, so the shortest list is whole. */
const fewestIds = 250

/**
 * Oldest first. Most conversations are short: one request lists all messages. Of a longer list the end is missing, so the list
 * begins closer to the newest message: first shortly before it, then twice as far each time. The ids in between may belong to
 * other conversations.
 */
export async function readNewestMessages(
  inbox: JobInbox,
  { conversationId, newestId }: { conversationId: number; newestId: number },
): Promise<ListedMessage[]> {
  const read = (fromId: number) => inbox.ask((helpdesk) => helpdesk.messagesFrom(conversationId, fromId))
  const all = await read(1)
  if (all.isWhole) return newestOf(all.messages)
  let found: readonly ListedMessage[] = []
  for (let ids = fewestIds; ids < newestId && found.length < mostMessages; ids *= 2) {
    const { messages, isWhole } = await read(newestId + 1 - ids)
    if (!isWhole) break
    found = messages
  }
  return newestOf(found)
}

/** A bridge may have imported old messages late: their ids are high, and their times are true. */
function newestOf(messages: readonly ListedMessage[]): ListedMessage[] {
  return messages.toSorted((one, other) => one.createdAt - other.createdAt || one.id - other.id).slice(-mostMessages)
}
