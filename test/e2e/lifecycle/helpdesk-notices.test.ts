// What agents see of a connection in their inbox: the code to scan, and whether the account is there.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import type { SeenMessage } from '../../../sim/helpdesk/snapshots.ts'
import { readQr } from '../../../sim/control/read-qr.ts'
import { destination } from '../../harness/inbound-stage.ts'
import { LifecycleStage, owner } from '../../harness/lifecycle-stage.ts'
import { waitUntil } from '../../harness/wait-until.ts'

async function open(helpdesk: SimHelpdesk, qrLifetimeMs = 60_000): Promise<LifecycleStage> {
  const environment = { ...destination(helpdesk), SERVICE_HELPDESK_NOTICES: 'true' }
  return LifecycleStage.open({ environment, qrLifetimeMs })
}

const pictures = (helpdesk: SimHelpdesk) => helpdesk.messages().filter(({ files }) => files.length > 0)

async function notice(helpdesk: SimHelpdesk, sentence: RegExp): Promise<SeenMessage> {
  return helpdesk.waitForMessage(undefined, ({ content }) => sentence.test(content ?? ''), 20_000)
}

async function lastQrMessage(stage: LifecycleStage): Promise<number> {
  const detail = (await stage.linked.detail('a')) as unknown as { last_qr_msg_id: number }
  return detail.last_qr_msg_id
}

test('the code is shown to agents, replaced as it changes, and gone once it was scanned', async () => {
  await using helpdesk = await SimHelpdesk.start({ quirks: calm })
  await using stage = await open(helpdesk, 4000)
  const { linked } = stage
  const phone = linked.network.account({ phone: owner })
  await linked.post('', { name: 'a' })
  await waitUntil('a code is shown', () => pictures(helpdesk).length > 0)
  const [first] = pictures(helpdesk)
  assert.ok(first)
  await waitUntil('the next one replaces it', () => {
    const [one, ...more] = pictures(helpdesk)
    return one !== undefined && one.id !== first.id && more.length === 0
  })
  await waitUntil('its message is remembered', async () => {
    return (await lastQrMessage(stage)) === pictures(helpdesk)[0]?.id
  })
  const [shown] = pictures(helpdesk)
  assert.ok(shown)
  assert.equal(shown.messageType, 'incoming')
  const conversation = await helpdesk.waitForConversation(({ id }) => id === shown.conversationId)
  assert.equal(conversation.sourceId, 'service-ops-a')
  await phone.scan(readQr(Buffer.from(pictures(helpdesk)[0]?.files[0]?.bytes ?? [])))
  await linked.reaches('a', 'ready')
  await notice(helpdesk, /^Connected as \+5511999990001\.$/)
  await waitUntil('no code is left', () => pictures(helpdesk).length === 0)
  assert.equal(await lastQrMessage(stage), 0)
  assert.deepEqual(new Set(helpdesk.messages().map(({ conversationId }) => conversationId)), new Set([conversation.id]))
})

test('an outage is shown after a minute and its end after 5 s; a blip is not shown at all', async () => {
  await using helpdesk = await SimHelpdesk.start({ quirks: calm })
  await using stage = await open(helpdesk)
  const phone = await stage.linked.pair('a')
  await notice(helpdesk, /^Connected as/)
  await stage.linked.network.strike({ kind: 'drop', account: owner })
  await stage.linked.reaches('a', 'disconnected')
  await stage.advanceUntilReady()
  await stage.clock.advance(5000)
  await stage.linked.tells('a', 'reconnected', 1)
  await stage.cut()
  await stage.clock.advance(60_000)
  await notice(helpdesk, /not been reachable for 60 s/)
  await stage.restore()
  await stage.clock.advance(5000)
  await notice(helpdesk, /^Connected again after \d+ min\.$/)
  phone.unlink()
  await notice(helpdesk, /^The link to the phone has ended/)
  const told = helpdesk.messages().filter(({ content }) => /Connected again|not been reachable/.test(content ?? ''))
  assert.equal(told.length, 2)
  const counted = (await stage.linked.service.get('/metrics')).text
  assert.doesNotMatch(counted, /^service_messages_total\{/m, 'notices are no messages')
})
