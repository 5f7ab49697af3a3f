// The helpdesk repeats itself: however often a callback comes, each message leaves once.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n))

test('every event delivered twice, early and in no order: each message arrives once', async () => {
  const quirks = { ...calm, twice: 1, early: 0.5, late: 0.5, lateMs: [50, 150] as const, delayMs: [5, 40] as const }
  // The seconds of the service take ten, so that a busy machine does not reach the deadline of an answer.
  const clock = new FastClock(0.1)
  await using world = await AgentWorld.open({ clock, helpdesk: { quirks, webhookTimeoutMs: 60_000 } })
  const texts = times(12, (n) => `text ${n}`)
  for (const text of texts) await world.write(text)
  await waitUntil('all have arrived', () => world.texts().length >= texts.length)
  await world.helpdesk.settled()
  const created = world.helpdesk.deliveries.filter(({ event }) => event === 'message_created')
  assert.equal(created.length, 2 * texts.length)
  assert.ok(created.every(({ status }) => status === 200))
  assert.deepEqual(world.texts().sort(), texts.toSorted())
  assert.equal((await world.outbox())['sent'], texts.length)
})
