// A service that starts with a hundred thousand messages to deliver: soon ready, and in bounded memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import '../../sim/harness/quiet.ts'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import type { Database } from '../../../src/storage/database.ts'
import { JournalStore } from '../../../src/storage/stores/messages/journal-store.ts'
import { message, person } from '../../bridge/inbound/harness/bridge-bed.ts'
import { newLocation } from '../../harness/databases.ts'
import { seedLinked } from '../../harness/linked-seed.ts'
import { silentLog } from '../../harness/logs.ts'
import { networkEnvironment } from '../../harness/service.ts'
import { ServiceProcess } from '../../harness/service-process.ts'

const rows = 100_000
const chats = 200
const textBytes = 1000
const atOnce = 1000
// With ids only it needs 60 MB, with the rows more than 200: a process that held them would end here.
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

test('a backlog of 100,000 messages is taken up without holding it in memory', { timeout: 180_000 }, async () => {
  await using place = await newLocation('sqlite')
  await using network = await SimNetwork.start()
  await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  await seedLinked(database, network, 1)
  await fillInbox(database)
  // Nothing is configured to deliver to: everything waits.
  const environment = { DATABASE_URL: place.url, NODE_OPTIONS: heapLimit, ...networkEnvironment(network) }
  await using service = new ServiceProcess(environment)
  const url = await service.ready(120_000)
  const { checks } = (await (await fetch(`${url}/api/health`)).json()) as { checks: { inbox_pending: number } }
  assert.equal(checks.inbox_pending, rows)
})
