// A message comes again while its first delivery is not stored yet.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { FailingKeys } from '../harness/failing-keys.ts'

for (const where of ['to the account', 'to a group']) {
  test(`a message ${where} that comes again is confirmed only after its first delivery is stored`, async () => {
    const clock = new ManualClock()
    let keys!: FailingKeys
    await using bed = await Bed.open({ clock, keys: (store) => (keys = new FailingKeys(store)) })
    const phone = await bed.linked('s')
    const bob = bed.sim.person({ phone: '5511888880001' })
    const chat = where === 'to a group' ? bed.sim.group('Team', bob, [phone]) : phone
    const line = await bed.online('s')
    const first = bob.text(chat, 'first')
    await waitUntil('the first message is confirmed', () => phone.companion.books.size === 0)

    keys.refusesSaves = true
    const { id } = bob.text(chat, 'second')
    await waitUntil('storage has refused', () => keys.refused > 0)
    await line.session.close()
    const { session } = await bed.dial('s')
    await waitUntil('the message has come again', () => bed.repeated === 1)
    // A receipt that left before one of these questions arrives before its answer.
    for (let round = 0; round < 3; round++) await session.probe(60_000)
    const unacknowledged = phone.companion.books.unacknowledgedIds()
    const isTold = bed.received.entries.some(({ event }) => event.id === id)

    keys.refusesSaves = false
    await clock.advance(2_000)
    assert.deepEqual(unacknowledged, [id])
    assert.equal(isTold, false, 'the bridge hears only of messages that are stored')
    await waitUntil('the second message is confirmed', () => phone.companion.books.size === 0)
    const received = bed.received.entries.filter(({ event }) => event.kind === 'message')
    assert.deepEqual(
      received.map(({ event }) => event.id),
      [first.id, id],
    )
  })
}
