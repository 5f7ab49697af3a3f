// The backlog while storage does not answer: it keeps its place before live messages, and it does not count as over.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { AwayKeys } from '../harness/away-keys.ts'
import { Bed } from '../harness/bed.ts'

async function openBed() {
  const clock = new ManualClock()
  const keys = new AwayKeys()
  const bed = await Bed.open({ clock, keys: (store) => keys.in(store) })
  const phone = await bed.linked('s')
  const [bob, eve] = ['5511988880001', '5511988880002'].map((number) => bed.sim.person({ phone: number }))
  assert.ok(bob && eve)
  return { clock, keys, bed, phone, bob, eve }
}

for (const way of ['hangs', 'fails'] as const) {
  test(`live messages wait behind the backlog however long storage ${way}`, async () => {
    const { clock, keys, bed: opened, phone, bob, eve } = await openBed()
    await using bed = opened
    const written: string[] = []
    for (let n = 0; n < 6; n++) written.push((n % 2 ? bob : eve).text(phone, `waiting ${n}`).id)
    keys.leave(way)
    const line = await bed.dial('s')
    await line.signal('authenticated')
    await waitUntil('the backlog is handed over', () => phone.companion.live)
    for (let n = 0; n < 6; n++) written.push((n % 2 ? bob : eve).text(phone, `live ${n}`).id)
    // The answer comes after the messages, so they have been read then.
    await line.session.probe(10_000)
    await clock.advance(120_000)
    assert.equal(bed.received.length, 0)
    keys.comeBack()
    await waitUntil('everything is received', async () => {
      await clock.advance(100)
      return bed.received.length === written.length
    })
    assert.deepEqual(
      bed.received.entries.map(({ event }) => event.id),
      written,
    )
  })
}

test('a backlog whose end the server does not announce is over when nothing of it came for 20 s', async () => {
  const { clock, bed: opened, phone, bob } = await openBed()
  await using bed = opened
  bed.sim.fault({ kind: 'lost_backlog_end' })
  const { id } = bob.text(phone, 'waiting')
  const line = await bed.dial('s')
  await line.signal('authenticated')
  await bed.event(id)
  await waitUntil('the message is confirmed', () => phone.companion.books.size === 0)
  await clock.advance(19_000)
  assert.ok(!line.kinds.includes('drained'))
  await clock.advance(2000)
  await line.drained()
})

test('the time in which storage is away does not bring that end nearer', async () => {
  const { clock, keys, bed: opened, phone, bob } = await openBed()
  await using bed = opened
  bed.sim.fault({ kind: 'lost_backlog_end' })
  const ids = [bob.text(phone, 'waiting').id, bob.text(phone, 'waiting, too').id]
  keys.leave('hangs')
  const line = await bed.dial('s')
  await line.signal('authenticated')
  await waitUntil('the backlog is handed over', () => phone.companion.live)
  await line.session.probe(10_000)
  await clock.advance(600_000)
  keys.comeBack()
  for (const id of ids) await bed.event(id)
  await waitUntil('the messages are confirmed', () => phone.companion.books.size === 0)
  assert.ok(!line.kinds.includes('drained'))
  await clock.advance(21_000)
  await line.drained()
})
