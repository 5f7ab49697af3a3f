// What agents see of a connection in their inbox: the code to scan, and whether the account is there.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import type { SeenMessage } from '../../../sim/helpdesk/snapshots.ts'
import { readQr } from '../../../sim/control/read-qr.ts'
import { owner } from '../../harness/instance-api.ts'
import { LifecycleWorld } from '../../harness/lifecycle-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const notices = { SERVICE_HELPDESK_NOTICES: 'true' }

const pictures = (helpdesk: SimHelpdesk) => helpdesk.messages().filter(({ files }) => files.length > 0)

async function notice(helpdesk: SimHelpdesk, sentence: RegExp): Promise<SeenMessage> {
  return helpdesk.waitForMessage(undefined, ({ content }) => sentence.test(content ?? ''), 60_000)
}

async function lastQrMessage(world: LifecycleWorld): Promise<number> {
  const detail = (await world.detail('a')) as unknown as { last_qr_msg_id: number }
  return detail.last_qr_msg_id
}

test('the code is shown to agents, replaced as it changes, and gone once it was scanned', async () => {
  // The pairing is over after six codes. A busy machine must scan one before.
  await using world = await LifecycleWorld.open({ environment: notices, qrLifetimeMs: 8000 })
  const { helpdesk } = world
  const phone = world.network.account({ phone: owner })
  await world.create({ name: 'a' })
  await waitUntil('a code is shown', () => pictures(helpdesk).length > 0)
  const [first] = pictures(helpdesk)
  assert.ok(first)
  await waitUntil('the next one replaces it', () => {
    const [one, ...more] = pictures(helpdesk)
    return one !== undefined && one.id !== first.id && more.length === 0
  })
  await waitUntil('its message is remembered', async () => {
    return (await lastQrMessage(world)) === pictures(helpdesk)[0]?.id
  })
  const [shown] = pictures(helpdesk)
  assert.ok(shown)
  assert.equal(shown.messageType, 'incoming')
  const conversation = await helpdesk.waitForConversation(({ id }) => id === shown.conversationId)
  assert.equal(conversation.sourceId, 'service-ops-a')
  await phone.scan(readQr(Buffer.from(pictures(helpdesk)[0]?.files[0]?.bytes ?? [])))
  await world.reaches('a', 'ready')
  await notice(helpdesk, /^Connected as \+5511999990001\.$/)
  await waitUntil('no code is left', () => pictures(helpdesk).length === 0)
  assert.equal(await lastQrMessage(world), 0)
  assert.deepEqual(new Set(helpdesk.messages().map(({ conversationId }) => conversationId)), new Set([conversation.id]))
})

test('an outage is shown after a minute and its end after 5 s; a blip is not shown at all', async () => {
  await using world = await LifecycleWorld.open({ environment: notices, qrLifetimeMs: 60_000 })
  const { helpdesk } = world
  const phone = await world.pair('a')
  await notice(helpdesk, /^Connected as/)
  await world.network.strike({ kind: 'drop', account: owner })
  await world.reaches('a', 'disconnected')
  await world.advanceUntilReady()
  await world.clock.advance(5000)
  await world.tells('a', 'reconnected', 1)
  await world.cut()
  await world.clock.advance(60_000)
  await notice(helpdesk, /not been reachable for 60 s/)
  await world.restore()
  await world.clock.advance(5000)
  await notice(helpdesk, /^Connected again after \d+ min\.$/)
  phone.unlink()
  await notice(helpdesk, /^The link to the phone has ended/)
  const told = helpdesk.messages().filter(({ content }) => /Connected again|not been reachable/.test(content ?? ''))
  assert.equal(told.length, 2)
  const counted = (await world.service.get('/metrics')).text
  assert.doesNotMatch(counted, /^service_messages_total\{/m, 'notices are no messages')
})
