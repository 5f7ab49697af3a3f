// A first message comes again after its session and its key came back to what they were: the envelope is known by name.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { Line } from '../harness/line.ts'
import { createNetwork, settingsFor } from '../harness/network-room.ts'
import { holdOf } from '../../harness/holds.ts'

const preKeyIds = Array.from({ length: 1000 }, (_, index) => String(index))

test('a first message that could open twice is received once, and leaves no session behind', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const preKeys = await bed.store.load('s', 'pre-key', preKeyIds)
  await bed.online('s')
  bed.sim.fault({ kind: 'lost_receipt' })
  await bed.event(bob.text(phone, 'one').id)
  await waitUntil('the receipt has left', () => bed.sim.log.find({ tag: 'receipt' }).length === 1)
  await bed.network[Symbol.asyncDispose]()
  const { query } = bed.database
  const sessions = query.selectFrom('session_keys').select('key_id').where('kind', '=', 'session')
  const stored = await bed.database.read(sessions)
  assert.ok(stored.length > 0)
  const gone = stored.map(({ key_id }) => ({ kind: 'session', id: key_id, value: null }))
  await bed.store.save(holdOf('a', bed.epoch), 's', [...gone, ...preKeys])

  const { database, epoch, sim, logs } = bed
  await using again = createNetwork({ database, epoch, settings: settingsFor(sim) }, { log: logs.log })
  await (await Line.open(again, 's')).drained()
  await waitUntil('the books are settled', () => phone.companion.books.size === 0)
  assert.equal((await bed.database.read(query.selectFrom('inbox').select('id'))).length, 1)
  assert.deepEqual(await bed.database.read(sessions), [])
  assert.equal((await bed.store.load('s', 'pre-key', preKeyIds)).length, preKeys.length)
})
