// The counters of the torture test find mistakes when a protection is missing.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { BotStage } from '../../harness/bot-stage.ts'
import { noMistakes } from '../../harness/truth.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const refusedChanges = { kind: 'status', status: 422, method: 'PATCH', path: /\/messages\/\d+$/ } as const

async function write(stage: BotStage, texts: readonly string[]): Promise<void> {
  const [customer] = stage.customers
  assert.ok(customer)
  for (const text of texts) await stage.write(customer, text)
}

function refused({ world: { helpdesk } }: BotStage, count: number): Promise<void> {
  return waitUntil(`${count} changes are refused`, () => (helpdesk.faults[0]?.struck ?? 0) >= count)
}

describe('without a protection', { concurrency: true }, () => {
  test('messages are out of order when the helpdesk does not say which ones there are', async () => {
    await using stage = await BotStage.open({ customers: 1 })
    await stage.world.helpdesk.fault({ kind: 'status', status: 500, method: 'GET', path: /\/messages$/ })
    // Which callbacks swap is up to chance; the first swap is enough.
    for (let burst = 0; burst < 10 && stage.mistakes().outOfOrder.length === 0; burst++) {
      await write(
        stage,
        Array.from({ length: 20 }, (_, n) => `b${burst} m${n}`),
      )
      await waitUntil('the burst has arrived', () => stage.mistakes().lost.length === 0)
    }
    assert.notDeepEqual(stage.mistakes().outOfOrder, [])
  })

  test('messages are falsely failed when the helpdesk refuses to show them as sent', async () => {
    // On a slow machine the process may stand still for so long that its callbacks are too old to be followed.
    const environment = { SERVICE_CALLBACK_MAX_AGE: '10m' }
    await using stage = await BotStage.open({ customers: 1, helpdesk: { quirks: calm }, environment })
    const { helpdesk, service } = stage.world
    helpdesk.configure({ webhookTimeoutMs: 1000 })
    await helpdesk.fault(refusedChanges)
    const texts = ['one', 'two', 'three']
    service.send('SIGSTOP')
    await write(stage, texts)
    await waitUntil('Chatwoot gives up', () => stage.failed.length === texts.length)
    service.send('SIGCONT')
    await refused(stage, texts.length)
    await waitUntil('all messages have arrived', () => stage.mistakes().lost.length === 0)
    assert.deepEqual(stage.mistakes(), { ...noMistakes, falselyFailed: texts })
  })

  test('a message is falsely sent when the helpdesk refuses to show that it failed', async () => {
    await using stage = await BotStage.open({ customers: 1, helpdesk: { quirks: calm } })
    const { helpdesk, network, service } = stage.world
    await helpdesk.fault(refusedChanges)
    network.fault({ kind: 'login_failure', code: 503, times: Infinity })
    await network.strike({ kind: 'drop' })
    await stage.world.reaches('n0', (state) => state !== 'ready')
    await write(stage, ['never'])
    await helpdesk.waitForDelivery('the message waits', ({ status }) => status === 202)
    network.faults.clear()
    network.fault({ kind: 'ack_error', code: 404 })
    await service.request('POST', '/api/instances/n0/restart')
    await refused(stage, 1)
    assert.deepEqual(stage.mistakes(), { ...noMistakes, lost: ['never'], falselySent: ['never'] })
  })
})
