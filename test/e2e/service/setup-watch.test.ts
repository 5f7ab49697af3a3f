// The checks of the set-up in the background: health, log and metric name what is broken, until it is cured.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const fails = 'a check of the set-up fails'
const passes = 'a check of the set-up passes again'
const roundMs = 5 * 60_000

const brokenIn = async (world: World) => (await world.health()).checks.setup.map(({ name }) => name)

/** Runs the worker of the watch once, and waits for its checks. */
const runWatch = async (world: World) => world.service.app.workers.get('setup-watch')?.tick()

test('an address that is not ours degrades health, is logged once and counted; the cure ends it', async () => {
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock } })
  await world.desk.patch('/inboxes/1', { channel: { webhook_url: '' } })
  await runWatch(world)
  const { status, checks } = await world.health()
  assert.equal(status, 'degraded')
  const [problem, ...more] = checks.setup
  assert.deepEqual(
    [problem?.destination, problem?.name, more],
    [`${world.helpdesk.facts.url}|1|1`, 'webhook_address', []],
  )
  assert.match(problem?.cure ?? '', /SERVICE_PUBLIC_URL/)
  assert.equal(await world.metric('service_setup_findings'), 1)
  const since = problem?.since
  const asked = () => world.helpdesk.requests.filter(({ path }) => path === '/api').length
  const before = asked()
  await clock.advance(roundMs)
  await runWatch(world)
  assert.equal(asked(), before + 1)
  assert.equal((await world.health()).checks.setup[0]?.since, since)
  const lines = world.service.logs.withMessage(fails).filter(({ check }) => check === 'webhook_address')
  assert.equal(lines.length, 1)
  await world.listen()
  await clock.advance(roundMs)
  await runWatch(world)
  assert.deepEqual(await brokenIn(world), [])
  assert.equal((await world.health()).status, 'ok')
  assert.deepEqual(
    world.service.logs.withMessage(passes).map(({ check }) => check),
    ['webhook_address'],
  )
})

test('a check on request shows the cure in health at once', async () => {
  await using world = await AgentWorld.open()
  await world.desk.patch('/inboxes/1', { channel: { webhook_url: 'not a url' } })
  await runWatch(world)
  assert.deepEqual(await brokenIn(world), ['webhook_address'])
  await world.listen()
  await world.service.get('/api/instances/n0/check')
  assert.deepEqual(await brokenIn(world), [])
})

test('a change of the configuration that cures is noticed with the next run', async () => {
  await using world = await AgentWorld.open()
  await world.patch('n0', { inbox_id: 99 })
  await runWatch(world)
  assert.deepEqual(await brokenIn(world), ['api_inbox'])
  await world.patch('n0', { inbox_id: 0 })
  await runWatch(world)
  assert.deepEqual(await brokenIn(world), [])
})

test('accounts that share an inbox are one entry, and a deleted instance leaves none', async () => {
  await using world = await World.open({ accounts: 3 })
  const asked = world.helpdesk.requests.length
  await runWatch(world)
  const questions = world.helpdesk.requests.slice(asked).filter(({ path }) => path === '/api')
  assert.ok(questions.length <= 1, `${questions.length} checks of one inbox`)
  for (const name of ['n0', 'n1', 'n2']) await world.service.get(`/api/instances/${name}/check`)
  assert.deepEqual(await brokenIn(world), ['webhook_address'])
  for (const name of ['n0', 'n1', 'n2']) await world.service.request('DELETE', `/api/instances/${name}`)
  await runWatch(world)
  assert.deepEqual(await brokenIn(world), [])
})

test('a fresh service without any setting is ok', async () => {
  const clock = new LeapingClock()
  const environment = { SERVICE_API_TOKEN: '' }
  await using service = await Service.start({ clock, environment, watchesSetup: true })
  await clock.advance(10_000)
  await waitUntil(
    'the first round is made',
    () => service.logs.withMessage('a check of the set-up has advice').length > 0,
  )
  const { status } = (await service.get('/api/health')).body as { status: string }
  assert.equal(status, 'ok')
  assert.deepEqual(service.logs.withMessage(fails), [])
})

test('a helpdesk that hangs blocks neither the start nor the end of the service', async () => {
  const clock = new LeapingClock()
  await using world = await World.open({ clock, watchesSetup: true })
  await world.helpdesk.fault({ kind: 'slow', ms: 600_000, method: 'GET' })
  await clock.advance(10_000)
  await world.helpdesk.waitForHeldRequests(1)
  const startedAt = performance.now()
  await world.stop()
  assert.ok(performance.now() - startedAt < 10_000, 'the stop did not wait for the helpdesk')
})
