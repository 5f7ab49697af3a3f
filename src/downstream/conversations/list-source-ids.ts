// Lists the source ids of the messages of a conversation.

import type { ChatwootClient } from '../chatwoot-client.ts'
import { readMessages } from '../chatwoot-json.ts'
import { isTooLarge } from '../failures.ts'

/** Chatwoot lists so many messages between two ids. */
const onPage = 1000
/** So many pages are read at most, so that an endless conversation costs a limited time. The newest messages come first. */
const maxPages = 400

/** The messages whose ids are at least `from` and below `to`. */
type Range = { from: number; to: number }

/**
 * Chatwoot selects messages by id, but sorts them by time, and cuts a list that is too long at its end. The times of imported
 * messages are corrected, so a cut list says nothing about its gaps. A range with too many messages is therefore split in two.
 */
export async function listSourceIds(
  client: ChatwootClient,
  conversationId: number,
  newestId: number,
): Promise<Set<string>> {
  const found = new Set<string>()
  const ranges: Range[] = [{ from: 1, to: newestId + 1 }]
  for (let pages = 0; pages < maxPages; pages++) {
    const range = ranges.pop()
    if (!range) break
    const page = await messagesIn(client, conversationId, range)
    for (const { sourceId } of page ?? []) if (sourceId !== null) found.add(sourceId)
    if (page && page.length < onPage) continue
    const ids = page?.map(({ id }) => id).sort((one, other) => one - other) ?? []
    ranges.push(...halvesOf(range, ids[ids.length >> 1]))
  }
  return found
}

/** Null when the answer is too large to be read. */
async function messagesIn(client: ChatwootClient, conversationId: number, { from, to }: Range) {
  // With both limits the lower one is inclusive.
  const path = `/conversations/${conversationId}/messages?after=${from}&before=${to}`
  try {
    return await client.ask({ method: 'GET', path, about: 'conversation', read: readMessages })
  } catch (error) {
    if (isTooLarge(error) && to - from > 1) return null
    throw error
  }
}

function halvesOf({ from, to }: Range, median = Math.floor((from + to) / 2)): Range[] {
  const middle = Math.min(Math.max(median, from + 1), to - 1)
  return [
    { from, to: middle },
    { from: middle, to },
  ]
}
