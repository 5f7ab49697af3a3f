// A service that starts with a large backlog of messages to deliver: soon ready, and in bounded memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../../src/storage/database.ts'
import { JournalStore } from '../../../src/storage/stores/messages/journal-store.ts'
import { message, person } from '../../bridge/inbound/harness/bridge-bed.ts'
import { noDestination } from '../../harness/destination.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import type { Health } from '../../harness/world.ts'

const rows = rounds({ gate: 20_000, long: 100_000 })
const chats = 200
// Fewer rows are longer ones: all of them never fit into the heap.
const textBytes = rounds({ gate: 9000, long: 1000 })
const atOnce = 1000
// The ids need 60 MB at most, the rows more than 180 MB: a process that held the rows would end here.
const heapLimit = '--max-old-space-size=160'

async function fillInbox(database: Database): Promise<void> {
  const journal = new JournalStore(database)
  const text = 'x'.repeat(textBytes)
  for (let from = 0; from < rows; from += atOnce) {
    const statements = Array.from({ length: atOnce }, (_, offset) => {
      const index = from + offset
      const event = message(`${index} ${text}`, { chat: person(`5511980${10_000 + (index % chats)}`) })
      return journal.inbox({ id: String(index).padStart(20, '0'), instance: 'n0', event, receivedAt: 1000 })
    })
    await database.write(...statements)
  }
}

test(`a backlog of ${rows} messages is taken up without holding it in memory`, { timeout: 300_000 }, async () => {
  // There is no destination: everything waits.
  const environment = { NODE_OPTIONS: heapLimit, ...noDestination }
  await using world = await ProcessWorld.open({ environment, seed: fillInbox })
  const { checks } = (await world.service.get('/api/health')).body as Health
  assert.equal(checks.inbox_pending, rows)
})
