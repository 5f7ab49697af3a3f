// Received messages that an earlier process has stored and not delivered.

import type { Database } from '../../src/storage/database.ts'
import { JournalStore } from '../../src/storage/stores/messages/journal-store.ts'
import { message, person } from '../bridge/inbound/harness/bridge-bed.ts'

type Backlog = {
  rows: number
  /** How many people wrote them. */
  chats: number
  textBytes?: number
  instance?: string
}

const atOnce = 1000

/** The text of a row begins with the number of the row. */
export async function storeBacklog(
  database: Database,
  { rows, chats, textBytes = 20, instance = 'n0' }: Backlog,
): Promise<void> {
  const journal = new JournalStore(database)
  const text = 'x'.repeat(textBytes)
  for (let from = 0; from < rows; from += atOnce) {
    const statements = Array.from({ length: Math.min(atOnce, rows - from) }, (_, offset) => {
      const index = from + offset
      const event = message(`${index} ${text}`, { chat: person(`5511980${10_000 + (index % chats)}`) })
      return journal.inbox({ id: String(index).padStart(20, '0'), instance, event, receivedAt: 1000 })
    })
    await database.write(...statements)
  }
}
