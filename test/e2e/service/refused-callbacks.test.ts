// Callbacks that the service refuses: counted, warned of with the cure, and shown in health until one is accepted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import type { ServiceOptions } from '../../harness/service.ts'
import { perNode } from '../../harness/stranger.ts'

const hour = 3_600_000

const refusedOf = async (world: AgentWorld) => (await world.health()).checks.callbacks_refused
const warnings = ({ logs }: Service) => logs.withMessage('callbacks are refused')
const counted = (world: AgentWorld, reason: string) =>
  world.metric(`service_callbacks_refused_total{reason="${reason}"}`)

test('a wrong secret: a warning with the cure once an hour, a count, and health until a callback is accepted', async () => {
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock } })
  const secret = world.helpdesk.facts.webhook_secret
  assert.equal((await world.desk.post('/inboxes/1/reset_secret')).status, 200)
  for (const text of ['one', 'two', 'three']) await world.write(text)
  await world.helpdesk.settled()
  const { status, checks } = await world.health()
  const [refused, ...others] = checks.callbacks_refused
  assert.deepEqual([status, refused?.instance, refused?.reason, others], ['degraded', 'n0', 'wrong_signature', []])
  assert.ok((refused?.count ?? 0) >= 3, String(refused?.count))
  assert.match(refused?.cure ?? '', /WEBHOOK_HMAC_SECRET.*\/api\/instances\/n0\/inbox/)
  assert.equal(await counted(world, 'wrong_signature'), refused?.count)
  const [warning, ...more] = warnings(world.service)
  assert.deepEqual([warning?.['level'], warning?.['cure'], more], [40, refused?.cure, []])
  await clock.advance(hour)
  await world.post(world.callback(9001, 'later'), { secret: 'wrong' })
  assert.equal(warnings(world.service).length, 2)
  assert.equal((await world.post(world.callback(9002, 'accepted'), { secret })).status, 200)
  assert.deepEqual(await refusedOf(world), [])
  assert.equal(world.service.logs.withMessage('callbacks are accepted again').length, 1)
})

test('a callback without a signature is told apart from one with a wrong signature', async () => {
  await using world = await AgentWorld.open()
  const body = world.callback(1, 'x')
  await world.service.request('POST', '/api/instances/n0/webhook', { token: null, body })
  const [refused] = await refusedOf(world)
  assert.equal(refused?.reason, 'not_signed')
  assert.match(refused.cure, /4\.13.*WEBHOOK_HMAC_SECRET.*POST \/api\/instances\/n0\/inbox; that call forgets/)
})

test(
  'an unknown name: in health only if the signature is right, and until the helpdesk inbox calls an instance',
  { skip: perNode },
  async () => {
    await using world = await AgentWorld.open()
    await world.post(world.callback(1, 'x'), { instance: 'stranger', secret: 'wrong' })
    assert.equal((await world.health()).status, 'ok')
    assert.equal(warnings(world.service).length, 1)
    await world.listen('gone')
    await world.write('to an instance that does not exist')
    await world.helpdesk.settled()
    const [refused, ...others] = await refusedOf(world)
    assert.deepEqual([refused?.instance, refused?.reason, others], ['gone', 'unknown_instance', []])
    assert.match(refused?.cure ?? '', /webhook URL.*create the instance gone/)
    assert.ok((await counted(world, 'unknown_instance')) >= 1)
    await world.listen()
    await world.write('to the right instance')
    await world.received('to the right instance')
    assert.deepEqual(await refusedOf(world), [])
  },
)

test('another inbox: the refusal names both inboxes, and only a callback of the own inbox ends it', async () => {
  await using world = await AgentWorld.open()
  const other = { inbox: { id: 7 }, conversation: { id: 70, inbox_id: 7 } }
  assert.equal((await world.post(world.callback(1, 'x', other))).status, 422)
  const [refused] = await refusedOf(world)
  assert.equal(refused?.reason, 'other_inbox')
  assert.match(refused.sentence, /inbox 7 of account 1.*inbox 1 of account 1/)
  await world.post(world.callback(2, 'x', { ...other, message_type: 'incoming' }))
  assert.equal((await refusedOf(world)).length, 1)
  await world.post(world.callback(3, 'ours'))
  assert.deepEqual(await refusedOf(world), [])
})

test('a callback that is not JSON is unreadable, and one that can be read ends that', async () => {
  await using world = await AgentWorld.open()
  assert.equal((await world.post('{')).status, 400)
  assert.deepEqual(
    (await refusedOf(world)).map(({ reason, sentence }) => [reason, sentence]),
    [['unreadable', 'the body is not valid JSON']],
  )
  await world.post(world.callback(2, 'x', { message_type: 'incoming' }))
  assert.deepEqual(await refusedOf(world), [])
})

test(
  'a stranger who calls with many names fills neither the log nor health, with and without a secret',
  { skip: perNode },
  async () => {
    for (const secret of ['', 'the secret']) {
      const clock = new ManualClock()
      const options: ServiceOptions = {
        clock,
        environment: { WEBHOOK_HMAC_SECRET: secret },
        seed: async (database) => {
          await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('a')))
        },
      }
      await using service = await Service.start(options)
      const call = (name: string, body = '{}') =>
        service.request('POST', `/api/instances/${encodeURIComponent(name)}/webhook`, { token: null, body })
      await Promise.all(Array.from({ length: 200 }, (_, index) => call(`name-${index}`)))
      await call('a\nforged line')
      assert.equal(warnings(service).length, 10)
      type Health = { status: string; checks: { callbacks_refused: unknown[] } }
      const health = (await service.get('/api/health')).body as Health
      assert.deepEqual([health.status, health.checks.callbacks_refused], ['ok', []])
      await clock.advance(hour)
      await call('later')
      assert.equal(warnings(service).length, 11)
      assert.ok(service.logs.lines.every((line) => !line.includes('forged') || line.includes('request answered')))
    }
  },
)

test('junk for an instance without a secret is counted and warned of, and health stays ok', async () => {
  await using world = await AgentWorld.open({ environment: { WEBHOOK_HMAC_SECRET: '' } })
  assert.equal((await world.post('junk')).status, 400)
  assert.equal(warnings(world.service).length, 1)
  assert.equal(await counted(world, 'unreadable'), 1)
  assert.equal((await world.health()).status, 'ok')
})
