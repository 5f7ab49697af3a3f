// What keeps an account from being banned, over the hours: restrictions and risks that come, end and come again.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const hour = 3_600_000

async function setUp() {
  const clock = new ManualClock(Date.now())
  const stage = await OutboundStage.open({ clock, helpdesk: { clock } })
  const struck = async (times: number) => {
    const count = () => stage.metric('service_lifecycle_events_total{instance="n0",event="strike",owner_tag=""}')
    await waitUntil('the strike is told', async () => (await count()) >= times)
    assert.equal(await count(), times)
  }
  let id = 100
  const offer = (text = 'offer') => stage.post(stage.callback(id++, text))
  /** The connection does not live through a jump, and comes back. */
  const jump = async (ms: number) => {
    await clock.advance(ms)
    await stage.allReady()
  }
  const risk = async () => (await stage.service.get('/api/instances/n0/ban-risk')).body as Record<string, unknown>
  return { clock, stage, struck, offer, jump, risk, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

test('a restriction ends after an hour; the next one is another strike', async () => {
  await using set = await setUp()
  const { stage, struck, offer, jump } = set
  stage.network.fault({ kind: 'ack_error', code: 463 })
  assertRefused(await offer(), 'SERVICE_MESSAGE_REFUSED', /restricted/)
  const frames = () => stage.network.log.find({ account: stage.phone.user.phone, tag: 'message' }).length
  const before = frames()
  await jump(hour - 120_000)
  assertRefused(await offer(), 'SERVICE_MESSAGE_REFUSED', /until/)
  assert.equal(frames(), before, 'the network is not asked again')
  await struck(1)
  await jump(180_000)
  assert.equal((await offer('the restriction is over')).status, 200)
  stage.network.fault({ kind: 'ack_error', code: 463 })
  assertRefused(await offer('one too many'), 'SERVICE_MESSAGE_REFUSED', /restricted/)
  await struck(2)
  assert.deepEqual(stage.texts(), ['the restriction is over'])
})

test('a restriction lasts as long as the network says, over a restart too', async () => {
  await using set = await setUp()
  const { clock, stage, struck, offer, jump } = set
  const until = Math.ceil(clock.now() / 1000) * 1000 + 24 * hour
  stage.phone.user.restrictedUntil = until
  stage.network.fault({ kind: 'ack_error', code: 463 })
  assertRefused(await offer(), 'SERVICE_MESSAGE_REFUSED', /restricted/)
  const { database } = stage.service
  const rows = () => database.read(database.query.selectFrom('restrictions').select('until'))
  await waitUntil('its end is known', async () => Number((await rows())[0]?.until) === until, { instead: rows })
  await struck(1)
  await jump(2 * hour)
  await stage.restart()
  const { body } = await offer('too early')
  assert.match((body as { error: string }).error, new RegExp(`until ${new Date(until).toISOString()}`))
  await jump(22 * hour)
  assert.equal((await offer('the restriction is over')).status, 200)
})

test('a risk decays: velocity within a minute, refusals within ten', async () => {
  await using set = await setUp()
  const { stage, offer, jump, risk } = set
  stage.network.fault({ kind: 'ack_error', code: 479, times: 31 })
  for (let n = 0; n < 31; n++) assert.equal((await offer(`offer ${n}`)).status, 500)
  const now = await risk()
  assert.deepEqual(now['alerts'], ['high_velocity', 'low_delivery'])
  assert.equal(now['level'], 'moderate')
  await jump(61_000)
  const minuteLater = await risk()
  assert.deepEqual(minuteLater['alerts'], ['low_delivery'])
  assert.ok(Number(minuteLater['score']) < Number(now['score']))
  await jump(600_000)
  const later = await risk()
  assert.deepEqual([later['alerts'], later['level'], later['score']], [[], 'ok', 0])
})

test('what waits is compared with too: the same text twice while disconnected is held back', async () => {
  await using stage = await OutboundStage.open()
  await stage.service.request('PATCH', '/api/instances/n0', { body: { spamguard_enabled: true } })
  await stage.disconnect()
  const text = 'the same long message'
  const answers = [await stage.post(stage.callback(1, text)), await stage.post(stage.callback(2, text))]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 422],
  )
  await stage.reconnect()
  await stage.received(text)
  await waitUntil('it is settled', async () => (await stage.outbox())['pending'] === 0)
  assert.deepEqual(stage.texts(), [text])
})

test('switched off for all, or for the instance, nothing is held back', async () => {
  const text = 'the same long message'
  const send = async (environment: Record<string, string>, spamguard_enabled: boolean) => {
    await using stage = await OutboundStage.open({ environment })
    await stage.service.request('PATCH', '/api/instances/n0', { body: { spamguard_enabled } })
    const answers = [await stage.post(stage.callback(1, text)), await stage.post(stage.callback(2, text))]
    return answers.map(({ status }) => status)
  }
  assert.deepEqual(await send({}, true), [200, 422])
  assert.deepEqual(await send({}, false), [200, 200])
  assert.deepEqual(await send({ SERVICE_SPAMGUARD_ENABLED: 'false' }, true), [200, 200])
})
