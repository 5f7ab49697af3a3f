// What only the library can act on is kept until it has, and what a session remembers of envelopes goes with it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyShare } from '../../../sim/network/accounts/history.ts'
import type { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { StorageError } from '../../../src/storage/engine/statement.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { Line } from '../harness/line.ts'
import { createNetwork, settingsFor } from '../harness/network-room.ts'

/** Takes everything but keys of the app state. */
function withoutAppState(store: SessionKeyStore): Pick<SessionKeyStore, 'load' | 'save' | 'idsOf' | 'dropSession'> {
  return {
    load: store.load.bind(store),
    idsOf: store.idsOf.bind(store),
    dropSession: store.dropSession.bind(store),
    async save(epoch, sessionId, writes, more) {
      if (writes.some(({ kind }) => kind === 'app-state-sync-key')) throw new StorageError('unavailable', 'no')
      await store.save(epoch, sessionId, writes, more)
    },
  }
}

async function count(bed: Bed, table: 'opened' | 'unfinished' | 'inbox'): Promise<number> {
  const query = bed.database.query.selectFrom(table).select(({ fn }) => fn.countAll<number>().as('count'))
  const [row] = await bed.database.read(query)
  return Number(row?.count)
}

test('keys of the app state that were received and not yet stored are acted on by the next process', async () => {
  const clock = new ManualClock()
  const bed = await Bed.open({ clock, keys: withoutAppState })
  await using stack = new AsyncDisposableStack()
  stack.use(bed)
  const phone = await bed.linked('s')
  await bed.online('s')
  const key = { id: Buffer.from('000000000009', 'hex'), data: Buffer.alloc(32, 9) }
  phone.tell(phone.companion, keyShare(key, Date.now()))
  await waitUntil('the message is confirmed', () => phone.companion.books.size === 0)
  assert.equal(await count(bed, 'unfinished'), 1)
  const id = key.id.toString('base64')
  const stored = async () => (await bed.store.load('s', 'app-state-sync-key', [id])).length
  assert.equal(await stored(), 0)
  await clock.advanceUntil(bed.network[Symbol.asyncDispose]())

  const { database, epoch, sim } = bed
  const next = stack.use(createNetwork({ database, epoch, settings: settingsFor(sim) }))
  await Line.open(next, 's')
  await waitUntil('the key is stored', async () => (await stored()) === 1)
  await waitUntil('nothing is left to do', async () => (await count(bed, 'unfinished')) === 0)
})

test('a forgotten session leaves no envelopes, but the inbox of its instance', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  await bed.online('s')
  await bed.event(bob.text(phone, 'hello').id)
  assert.equal(await count(bed, 'opened'), 1)
  await bed.network.forget({ sessionId: 's', instance: 'a' })
  assert.equal(await count(bed, 'opened'), 0)
  assert.equal(await count(bed, 'inbox'), 1)
})

test('envelopes are forgotten after thirty days', async () => {
  const clock = new ManualClock()
  await using bed = await Bed.open({ clock })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  await bed.online('s')
  await bed.event(bob.text(phone, 'hello').id)
  assert.equal(await bed.network.pruneJournal(), 0)
  await clock.advance(31 * 24 * 60 * 60 * 1000)
  assert.equal(await bed.network.pruneJournal(), 1)
  assert.equal(await count(bed, 'opened'), 0)
})
