// The server hands the backlog over in windows: the service asks for the next one until the end is announced.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import type { SimNetworkOptions } from '../../../sim/network/sim-network.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { AwayKeys } from '../harness/away-keys.ts'
import { Bed } from '../harness/bed.ts'

async function openBed(sim: SimNetworkOptions = {}) {
  const bed = await Bed.open({ sim })
  const phone = await bed.linked('s')
  const [bob, eve] = ['5511988880001', '5511988880002'].map((number) => bed.sim.person({ phone: number }))
  assert.ok(bob && eve)
  return { bed, phone, bob, eve }
}

/** The ids of the written messages. */
function write(authors: readonly SimPerson[], phone: SimPhone, count: number): string[] {
  return Array.from({ length: count }, (_, n) => authors[n % authors.length]?.text(phone, `waiting ${n}`).id ?? '')
}

function askedFor({ sim }: Bed): number[] {
  const asked = sim.log.find({ tag: 'ib' }).filter(({ direction }) => direction === 'in')
  return asked.flatMap(({ at, node }) => (JSON.stringify(node).includes('offline_batch') ? [at] : []))
}

for (const { name, sim, waiting } of [
  { name: 'of 130 waiting messages, 100 a window,', sim: {}, waiting: 130 },
  { name: 'of 40 waiting messages from a server that gives 7 at a time', sim: { window: 7 }, waiting: 40 },
]) {
  test(`all ${name} have come when the account counts as drained`, async () => {
    const { bed: opened, phone, bob, eve } = await openBed(sim)
    await using bed = opened
    const written = write([bob, eve], phone, waiting)
    await bed.online('s')
    assert.equal(phone.companion.books.redelivered, waiting)
    await bed.event(written.at(-1) ?? '')
    assert.deepEqual(
      bed.received.entries.map(({ event }) => event.id),
      written,
    )
    await waitUntil('the books are settled', () => phone.companion.books.size === 0)
    const asked = askedFor(bed)
    for (const [n, at] of asked.entries()) assert.ok(n === 0 || at - (asked[n - 1] ?? 0) >= 95, String(asked))
  })
}

test('live messages that overtake the windows of a backlog are received after it', async () => {
  const { bed: opened, phone, bob, eve } = await openBed({ window: 10, isBacklogOvertaken: true })
  await using bed = opened
  const group = bed.sim.group('Team', bob, [phone, eve])
  const created = () => bed.received.entries.find(({ event }) => event.kind === 'group')?.event.id
  const written = [...write([bob, eve], phone, 40), bob.text(group, 'waiting').id]
  const line = await bed.dial('s')
  // Nothing that has come is unopened then.
  await waitUntil('the first window is taken', () => phone.companion.books.size <= 32)
  for (let n = 0; n < 5; n++) written.push(bob.text(phone, `live ${n}`).id, eve.text(group, `live ${n}`).id)
  assert.ok(!phone.companion.live, 'some of the backlog waits on the server')
  await line.drained()
  await bed.event(written.at(-1) ?? '')
  assert.deepEqual(
    bed.received.entries.map(({ event }) => event.id),
    [created(), ...written],
  )
})

test('after a pause of the server in the middle of the backlog the rest comes, and then new messages', async () => {
  const clock = new ManualClock()
  await using bed = await Bed.open({ clock })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511988880001' })
  const written = write([bob], phone, 250)
  const line = await bed.dial('s')
  await waitUntil('the first window is received', () => bed.received.length === 100)
  bed.sim.fault({ kind: 'paused_backlog', times: Infinity })
  await clock.advance(25_000)
  await line.drained()
  assert.equal(bed.received.length, 100)
  bed.sim.clearFaults()
  written.push(bob.text(phone, 'new').id)
  await waitUntil('everything is received', async () => {
    await clock.advance(100)
    return bed.received.length === written.length
  })
  assert.deepEqual(
    bed.received.entries.map(({ event }) => event.id),
    written,
  )
})

test('while storage does not answer, no more than two windows are in memory', async () => {
  const keys = new AwayKeys()
  const clock = new ManualClock()
  await using bed = await Bed.open({ clock, keys: (store) => keys.in(store) })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511988880001' })
  const written = write([bob], phone, 450)
  keys.leave('hangs')
  const line = await bed.dial('s')
  await line.signal('authenticated')
  await clock.advance(60_000)
  await line.session.probe(10_000)
  assert.ok(phone.companion.books.redelivered <= 200, `${phone.companion.books.redelivered} messages are in memory`)
  assert.ok(!line.kinds.includes('drained'))
  keys.comeBack()
  await waitUntil('everything is received', async () => {
    await clock.advance(100)
    return bed.received.length === written.length
  })
  await line.drained()
  assert.deepEqual(
    bed.received.entries.map(({ event }) => event.id),
    written,
  )
})
