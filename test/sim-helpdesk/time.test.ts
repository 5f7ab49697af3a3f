// Time: a test can move the helpdesk's own clock, and a helpdesk with a given clock uses only that clock.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { ShiftableClock } from '../../sim/shiftable-clock.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { DeskClient, openChat } from './harness/desk-client.ts'
import { WebhookCatcher } from './harness/webhook-catcher.ts'

test('moving time forward fires the due timers in order and keeps the others', async () => {
  const clock = new ShiftableClock()
  const ran: string[] = []
  clock.after(2000, () => ran.push('second'))
  clock.after(1000, () => {
    ran.push('first')
    clock.after(500, () => ran.push('set by the first'))
  })
  const stop = clock.after(60_000, () => ran.push('never'))
  const before = clock.now()
  await clock.advance(5000)
  assert.deepEqual(ran, ['first', 'set by the first', 'second'])
  assert.ok(clock.now() - before >= 5000)
  stop()
})

test('on a stopped clock no webhook leaves and every time is the same', async () => {
  const clock = new ManualClock()
  await using bridge = await WebhookCatcher.start()
  await using helpdesk = await SimHelpdesk.start({ clock, quirks: calm })
  const client = new DeskClient(helpdesk)
  await client.patch('/inboxes/1', { channel: { webhook_url: bridge.url } })
  const chat = await openChat(client, '5511')
  const { body } = await client.post(`/conversations/${chat}/messages`, { content: 'hi' })
  assert.equal(body['created_at'], clock.now() / 1000)
  assert.equal(bridge.caught.entries.length, 0)
  await clock.advance(1)
  await bridge.waitFor('message_created')
  await assert.rejects(helpdesk.advance(1), /advance that one/)
})
