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

test('a request to retry whose answer is lost is followed when it comes again', async () => {
  await using opened = await newDatabase('sqlite')
  const { database } = opened
  await new LeaseStore(database).acquire('me', 60_000)
  const inbox = new InboxStore(database)
  const retryParked = inbox.retryParked.bind(inbox)
  let losses = 1
  inbox.retryParked = async (...about) => {
    const ids = await retryParked(...about)
    if (losses-- > 0) throw new StorageError('unavailable', 'the answer is lost')
    return ids
  }
  const metrics = { countResult: () => undefined }
  const parked = new ParkedRows({ inbox, metrics, epoch: () => 1, clock: systemClock, log: silentLog })
  const journal = new JournalStore(database)
  for (const id of ['01', '02']) {
    await database.write(journal.inbox({ id, instance: 'a', event: message(id), receivedAt: 1000 }))
    await inbox.park(1, id, 'no')
  }
  parked.begin('a', 2)
  await assert.rejects(parked.unpark('a'), /the answer is lost/)
  assert.deepEqual(await parked.unpark('a'), ['01', '02'])
  assert.equal(parked.count, 0)
  assert.deepEqual(await parked.unpark('a'), [])
})
