import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ParkedRows } from '../../../src/bridge/inbound/parked-rows.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { StorageError } from '../../../src/storage/engine/statement.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { InboxStore } from '../../../src/storage/stores/messages/inbox-store.ts'
import { JournalStore } from '../../../src/storage/stores/messages/journal-store.ts'
import { newDatabase } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { message } from './harness/bridge-bed.ts'
import { holdOf, holds } from '../../harness/holds.ts'

/** Two parked rows. `around` runs instead of the write that makes parked rows pending, and is given that write. */
async function open(around: (retryParked: () => Promise<string[]>, inbox: InboxStore) => Promise<string[]>) {
  const opened = await newDatabase('sqlite')
  const { database } = opened
  await new LeaseStore(database).acquire('me', 60_000)
  const inbox = new InboxStore(database)
  const retryParked = inbox.retryParked.bind(inbox)
  inbox.retryParked = (...about) => around(() => retryParked(...about), inbox)
  const metrics = { countResult: () => undefined }
  const parked = new ParkedRows({ inbox, metrics, ...holds, clock: systemClock, log: silentLog })
  const journal = new JournalStore(database)
  for (const id of ['01', '02', '03']) {
    await database.write(journal.inbox({ id, instance: 'a', event: message(id), receivedAt: 1000 }))
  }
  for (const id of ['01', '02']) await inbox.park(holdOf('a'), id, 'no')
  parked.begin('a', 2)
  return { parked, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}

test('a request to retry whose answer is lost is followed when it comes again', async () => {
  let losses = 1
  await using bed = await open(async (retryParked) => {
    const ids = await retryParked()
    if (losses-- > 0) throw new StorageError('unavailable', 'the answer is lost')
    return ids
  })
  const { parked } = bed
  await assert.rejects(parked.unpark('a'), /the answer is lost/)
  assert.deepEqual(await parked.unpark('a'), ['01', '02'])
  assert.equal(parked.count, 0)
  assert.deepEqual(await parked.unpark('a'), [])
})

test('a row that is parked while a request to retry runs is followed too', async () => {
  await using bed = await open(async (retryParked, inbox) => {
    await inbox.park(holdOf('a'), '03', 'no')
    return retryParked()
  })
  assert.deepEqual(await bed.parked.unpark('a'), ['01', '02', '03'])
})
