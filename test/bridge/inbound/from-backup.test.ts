// Rows that come from a backup: the helpdesk is searched for them before they are posted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RestoredStore } from '../../../src/storage/stores/restored-store.ts'
import { BridgeBed, message } from './harness/bridge-bed.ts'
import { holds } from '../../harness/holds.ts'

/** Two messages wait in a backup. The first one was posted after the backup, the second one never was. */
async function restored(bed: BridgeBed): Promise<void> {
  const { database } = bed
  await bed.receive(message('zero'))
  await bed.posted(1)
  await bed.drained()
  const posted = message('one')
  await bed.receive(posted)
  await bed.posted(2)
  await bed.drained()
  await database.write(database.query.deleteFrom('message_map').where('network_id', '=', posted.id))
  await bed.store(posted)
  await bed.store(message('two'))
  await database.write(database.query.updateTable('lease').set({ backup_at: bed.clock.now() }))
}

test('an event that was posted after the backup is found, and one that was not is posted', async () => {
  await using bed = await BridgeBed.open()
  await restored(bed)
  assert.equal((await new RestoredStore(bed.database, holds.nodeHold).prepare(bed.clock.now()))?.searched, 2)
  await bed.restart()
  await bed.drainedWithin(60_000)
  assert.deepEqual(bed.helpdesk.contents, ['zero', 'one', 'two'])
})

test('without the note of the backup the event is posted twice', async () => {
  await using bed = await BridgeBed.open()
  await restored(bed)
  await bed.restart()
  await bed.drainedWithin(60_000)
  assert.deepEqual(bed.helpdesk.contents, ['zero', 'one', 'one', 'two'])
})

test('a parked event is searched for when it is tried again', async () => {
  await using bed = await BridgeBed.open()
  await restored(bed)
  const { database, clock } = bed
  await database.write(database.query.updateTable('inbox').set({ state: 'parked' }))
  await new RestoredStore(database, holds.nodeHold).prepare(clock.now())
  await bed.restart()
  const retried = bed.inbound.retryParked('a')
  await bed.drainedWithin(60_000)
  await retried
  assert.deepEqual(bed.helpdesk.contents, ['zero', 'one', 'two'])
})
