// What keeps an account from being banned, over the hours: restrictions and risks that come, end and come again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { announced } from './harness/views.ts'

const hour = 3_600_000

async function setUp() {
  const bed = await OutboundBed.open()
  let id = 100
  const offer = (text = 'offer') => bed.post(bed.callback(id++, text))
  const risk = () => bed.process.outbound.banRisk.snapshot('n0')
  return { bed, offer, risk, [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose]() }
}

test('a restriction ends after an hour; the next one is another strike', async () => {
  await using set = await setUp()
  const { bed, offer } = set
  bed.network.fault({ kind: 'ack_error', code: 463 })
  assertRefused(await offer(), 'SERVICE_MESSAGE_REFUSED', /restricted/)
  const before = bed.network.frames
  await bed.pass(hour - 120_000)
  assertRefused(await offer(), 'SERVICE_MESSAGE_REFUSED', /until/)
  assert.equal(bed.network.frames, before, 'the network is not asked again')
  assert.equal(announced(bed, 'strike'), 1)
  await bed.pass(180_000)
  assert.equal((await offer('the restriction is over')).status, 200)
  bed.network.fault({ kind: 'ack_error', code: 463 })
  assertRefused(await offer('one too many'), 'SERVICE_MESSAGE_REFUSED', /restricted/)
  assert.equal(announced(bed, 'strike'), 2)
  assert.deepEqual(bed.texts(), ['the restriction is over'])
})

test('a restriction lasts as long as the network says, over a restart too', async () => {
  await using set = await setUp()
  const { bed, offer } = set
  const until = bed.clock.now() + 24 * hour
  bed.network.restriction = { isActive: true, until }
  bed.network.fault({ kind: 'ack_error', code: 463 })
  assertRefused(await offer(), 'SERVICE_MESSAGE_REFUSED', /restricted/)
  const rows = () => bed.database.read(bed.database.query.selectFrom('restrictions').select('until'))
  await bed.until('its end is known', async () => Number((await rows())[0]?.until) === until)
  assert.equal(announced(bed, 'strike'), 1)
  await bed.pass(2 * hour)
  await bed.restart()
  const { body } = await offer('too early')
  assert.match((body as { error: string }).error, new RegExp(`until ${new Date(until).toISOString()}`))
  await bed.pass(22 * hour)
  assert.equal((await offer('the restriction is over')).status, 200)
})

test('a refused first message is no strike and stops no other one when the network reports no restriction', async () => {
  await using set = await setUp()
  const { bed, offer } = set
  bed.network.restriction = { isActive: false, until: null }
  bed.network.fault({ kind: 'ack_error', code: 463 })
  assertRefused(await offer(), 'SERVICE_MESSAGE_REFUSED', /refused the message \(code 463\)/)
  assert.equal((await offer('to the next stranger')).status, 200)
  assert.equal(announced(bed, 'strike'), 0)
  assert.deepEqual(bed.texts(), ['to the next stranger'])
})

test('when the network does not say whether it restricts the account, messages to other strangers are refused with that reason', async () => {
  await using set = await setUp()
  const { bed, offer } = set
  bed.network.restriction = null
  bed.network.fault({ kind: 'ack_error', code: 463 })
  assertRefused(await offer(), 'SERVICE_MESSAGE_REFUSED', /refused the message \(code 463\)/)
  const until = new Date(bed.clock.now() + 600_000).toISOString()
  const reason = new RegExp(`did not say whether the account is restricted.*\\(until ${until}\\)`)
  assertRefused(await offer('to the next stranger'), 'SERVICE_MESSAGE_REFUSED', reason)
  assert.equal(announced(bed, 'strike'), 0)
  await bed.pass(600_000)
  assert.equal((await offer('ten minutes later')).status, 200)
  assert.deepEqual(bed.texts(), ['ten minutes later'])
})

test('a risk decays: velocity within a minute, refusals within ten', async () => {
  await using set = await setUp()
  const { bed, offer, risk } = set
  bed.network.fault({ kind: 'ack_error', code: 479, times: 31 })
  for (let n = 0; n < 31; n++) assert.equal((await offer(`offer ${n}`)).status, 500)
  const now = risk()
  assert.deepEqual(now.alerts, ['high_velocity', 'low_delivery'])
  assert.equal(now.level, 'moderate')
  await bed.pass(61_000)
  const minuteLater = risk()
  assert.deepEqual(minuteLater.alerts, ['low_delivery'])
  assert.ok(minuteLater.score < now.score)
  await bed.pass(600_000)
  const { alerts, level, score } = risk()
  assert.deepEqual([alerts, level, score], [[], 'ok', 0])
})

test('risk: a burst to many people raises the alert once and is announced once', async () => {
  await using set = await setUp()
  const { bed, risk } = set
  for (let n = 0; n < 21; n++) {
    const { phone } = bed.network.person({ phone: `55118777${10_000 + n}` })
    const conversation = { id: 100 + n, inbox_id: 1, meta: { sender: { phone_number: `+${phone ?? ''}` } } }
    await bed.post(bed.callback(100 + n, 'offer', { conversation }))
  }
  const { alerts, diversity, level } = risk()
  assert.deepEqual([alerts, diversity, level], [['burst_outreach'], 21, 'moderate'])
  await bed.until('it is told', () => announced(bed, 'ban_risk') > 0, { stepMs: 1000 })
  await bed.pass(60_000)
  assert.equal(announced(bed, 'ban_risk'), 1)
})

test('the spamguard compares with waiting messages too: the same text twice while disconnected is blocked', async () => {
  await using bed = await OutboundBed.open()
  bed.change('n0', { isSpamguardEnabled: true })
  bed.disconnect()
  const text = 'the same long message'
  const answers = [await bed.post(bed.callback(1, text)), await bed.post(bed.callback(2, text))]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 422],
  )
  bed.connect()
  await bed.received(text)
  await bed.until('it is settled', async () => (await bed.outbox()).pending === 0)
  assert.deepEqual(bed.texts(), [text])
})

test('the spamguard blocks nothing when it is switched off for all or for the instance', async () => {
  const text = 'the same long message'
  const send = async (environment: Record<string, string>, isSpamguardEnabled: boolean) => {
    await using bed = await OutboundBed.open({ environment })
    bed.change('n0', { isSpamguardEnabled })
    const answers = [await bed.post(bed.callback(1, text)), await bed.post(bed.callback(2, text))]
    return answers.map(({ status }) => status)
  }
  assert.deepEqual(await send({}, true), [200, 422])
  assert.deepEqual(await send({}, false), [200, 200])
  assert.deepEqual(await send({ SERVICE_SPAMGUARD_ENABLED: 'false' }, true), [200, 200])
})
