// An inbox with thousands of contacts is taken over in bounded time, and a second run changes nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherBridges } from '../../../src/core/other-bridges/other-bridges.ts'
import type { OtherBridge } from '../../../src/core/other-bridges/other-bridges.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { fillMany } from '../../harness/other-bridges.ts'
import { rounds } from '../../harness/rounds.ts'
import { AdoptWorld } from './harness/adopt-world.ts'

/** The three differ only in their forms, so one of them is large in the gate. */
const countOf = (bridge: OtherBridge) => rounds({ gate: bridge === 'evolution' ? 1000 : 300, long: 3000 })

for (const bridge of otherBridges) {
  const count = countOf(bridge)
  test(`${count} contacts of ${bridge}`, async () => {
    const clock = new FastClock(1)
    await using world = await AdoptWorld.with(bridge, { clock })
    const filled = fillMany(world.helpdesk, bridge, count)
    clock.setSpeed(100)
    const result = await world.adopt()
    const messages = bridge === 'waha' ? 0 : 2 * count
    assert.deepEqual(
      [result['scanned'], result['adopted'], result['conversations'], result['messages'], result['errors']],
      [count, count, count, messages, 0],
    )
    const [seen, stored] = [world.seen(), await world.stored()]
    const second = await world.adopt()
    assert.deepEqual([second['adopted'], second['unchanged']], [0, count])
    assert.deepEqual(world.seen(), seen)
    assert.deepEqual(await world.stored(), stored)
    const requests = world.helpdesk.requests.length
    assert.ok(requests < 5 * count, `${requests} requests`)
    clock.setSpeed(1)
    const last = world.network.person({ phone: String(5_511_970_000_000 + count - 1), pushName: 'Last' })
    const message = await world.arrived(last.text(world.phone, 'hello again'))
    assert.equal(message.conversationId, filled.at(-1)?.conversations[0])
    assert.equal(world.helpdesk.see.contacts().length, count)
  })
}
