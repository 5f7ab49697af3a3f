// Connections drop, are replaced, closed and reopened in the middle of traffic: the ratchets survive in one process too.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../sim/network/seeded-random.ts'
import { rounds } from '../harness/rounds.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'
import type { Line } from './harness/line.ts'
import { plain } from './harness/contents.ts'

const disturbances = rounds({ gate: 10, long: 30 })

test(`after ${disturbances} disturbances messages pass both ways and none of ours was unreadable`, async () => {
  await using bed = await Bed.open({ sim: { seed: 'chaos' } })
  const phone = await bed.linked('s')
  const people = [1, 2, 3].map((n) => bed.sim.person({ phone: `551188888000${n}` }))
  const [bob] = people
  assert.ok(bob)
  const group = bed.sim.group('Team', bob, [phone, ...people.slice(1)])
  const targets = [...people.map(({ user }) => user.pnJid), group.jid]
  const random = new SeededRandom('disturbances')
  const disturb = [
    () => bed.sim.strike({ kind: 'drop' }),
    () => bed.sim.strike({ kind: 'stream_error', reason: 503 }),
    () => bed.sim.strike({ kind: 'stream_error', reason: 'restart' }),
    () => bed.sim.strike({ kind: 'server_restart' }),
    (line: Line) => line.session.close(),
  ]
  let sent = 0
  for (let round = 0; round < disturbances; round++) {
    const line = await bed.online('s')
    const traffic = Array.from({ length: 6 }, async () => {
      people[random.below(3)]?.text(random.below(3) === 0 ? group : phone, 'in')
      sent += 1
      await line.session.send(targets[random.below(4)] ?? '', plain(`out ${sent}`), `3EB0CHAOS${sent}`)
    })
    const through = random.below(7)
    let acknowledged = 0
    for (const one of traffic) {
      one.then(
        () => (acknowledged += 1),
        () => (acknowledged += 1),
      )
    }
    await waitUntil('some of it is through', () => acknowledged >= through)
    // Each kind once, then by chance.
    await disturb[round < disturb.length ? round : random.below(disturb.length)]?.(line)
    await Promise.allSettled(traffic)
  }
  const failures = people.flatMap((person) => person.undecryptable.entries)
  assert.deepEqual(failures, [])

  const { session } = await bed.online('s')
  for (const [index, person] of people.entries()) {
    for (const { id } of [person.text(phone, 'fresh'), person.text(group, 'fresh')]) {
      const first = await person.receipts.waitFor(`a receipt for ${id}`, (one) => one.id === id)
      assert.equal(first.type, 'delivered')
    }
    await session.send(person.user.pnJid, plain('fresh'), `3EB0FRESH${index}`)
    await person.messages.waitFor('the fresh message', (one) => one.id === `3EB0FRESH${index}`)
  }
})
