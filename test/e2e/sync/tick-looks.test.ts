// A tick is a change at the helpdesk, and the helpdesk sends a callback for it. A message whose callback was answered is not
// looked at. A message whose callback failed is looked at and repaired.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { countsReceipts, delivered, looks } from './harness/tick-world.ts'

/**
 * A look comes 10 s after a tick. With a faster clock a slow machine would not answer the callback before the look. Each
 * test has a clock of its own: a shared one runs on while other tests run in this process, and is then minutes ahead.
 */
function openWorld(): Promise<AgentWorld> {
  return AgentWorld.open({ clock: new FastClock(2) })
}

async function looksAreOver({ service: { database } }: AgentWorld): Promise<void> {
  const planned = database.query.selectFrom('outbox').select('id').where('look_at', 'is not', null)
  await waitUntil('no look is planned', async () => (await database.read(planned)).length === 0)
}

describe('looks after ticks', { concurrency: 2 }, () => {
  test('a message is not looked at when the callback of its tick was answered', async () => {
    await using world = await openWorld()
    const { id, message } = await delivered(world, 'hello')
    world.bob.receipt('read', [message])
    await world.shown(id, ({ status }) => status === 'read')
    await countsReceipts(world, { filtered: 1, ok: 1 })
    await looksAreOver(world)
    assert.deepEqual(looks(world), [])
  })

  test('a message is shown as read again after the callback of its tick has failed', async () => {
    await using world = await openWorld()
    const { id, message } = await delivered(world, 'hello')
    await world.desk.patch('/inboxes/1', { channel: { webhook_url: 'http://127.0.0.1:1/webhook' } })
    world.bob.receipt('read', [message])
    await world.shown(id, ({ status }) => status === 'failed')
    await world.listen()
    await world.shown(id, ({ status }) => status === 'read')
    assert.notEqual(looks(world).length, 0)
  })
})
