// The round trip: a callback that Chatwoot must deliver, and the reason when it cannot.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { onEveryVersion } from '../../harness/helpdesk-versions.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { checkOf, checkSetup } from '../../harness/setup-report.ts'
import type { SetupCheck } from '../../harness/setup-report.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const operations = ({ helpdesk }: AgentWorld) =>
  helpdesk.messages().filter(({ content }) => content?.startsWith('Connection test') === true)

async function roundTrip(world: AgentWorld, name = 'n0'): Promise<SetupCheck> {
  return checkOf(await checkSetup(world.service, name, 'POST'), 'round_trip')
}

/** The round trip of a helpdesk that does not call: time passes until there is an answer. */
async function failing(world: AgentWorld, clock: LeapingClock): Promise<SetupCheck> {
  let found: SetupCheck | undefined
  const tested = roundTrip(world).then((answer) => (found = answer))
  // In small steps: the helpdesk must be able to answer before our requests have waited too long on this clock.
  await waitUntil('there is an answer', async () => {
    await clock.advance(100)
    return found !== undefined
  })
  return tested
}

onEveryVersion('the callback comes back, and agents see no message of it', async (version) => {
  await using world = await AgentWorld.open({ helpdesk: { version } })
  const { result, sentence } = await roundTrip(world)
  const isTestable = version !== '3.4'
  assert.equal(result, isTestable ? 'ok' : 'untested', sentence)
  assert.match(sentence, isTestable ? /came back after \d+ ms/ : /4\.2 is the first/)
  await world.helpdesk.settled()
  assert.deepEqual(operations(world), [])
  assert.equal(world.bob.messages.length, 0)
  world.helpdesk.assertNothingRefused()
})

test('the name of an instance may contain a dot, and callers that ask at once share one test', async () => {
  await using world = await AgentWorld.open({ accounts: 0 })
  await world.create({ name: 'shop.one' })
  await world.listen('shop.one')
  const found = await Promise.all([roundTrip(world, 'shop.one'), roundTrip(world, 'shop.one')])
  assert.deepEqual(
    found.map(({ result }) => result),
    ['ok', 'ok'],
  )
  const typings = world.helpdesk.requests.filter(({ path }) => path.endsWith('/toggle_typing'))
  assert.equal(typings.length, 2, 'on and off')
})

test('a private address that Chatwoot refuses: Chatwoot says why, and the cure names its setting', async () => {
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock, allowPrivateNetwork: false } })
  const { result, sentence, cure } = await failing(world, clock)
  assert.equal(result, 'broken')
  assert.match(sentence, /Hostname '127\.0\.0\.1' has no public ip addresses/)
  assert.match(cure ?? '', /SAFE_FETCH_ALLOW_PRIVATE_NETWORK=true/)
  const [note, ...more] = operations(world)
  assert.deepEqual([note?.private, note?.messageType, more], [true, 'outgoing', []])
  assert.equal((await world.health()).checks.callbacks_lost.length, 1)
  world.helpdesk.configure({ allowPrivateNetwork: true })
  assert.equal((await roundTrip(world)).result, 'ok')
  assert.deepEqual((await world.health()).checks.callbacks_lost, [])
})

test('an empty address and an unknown secret are told by their own checks, and the round trip is not tested', async () => {
  await using world = await AgentWorld.open()
  const told = async () => {
    const report = await checkSetup(world.service, 'n0', 'POST')
    const names = report.checks.filter(({ result }) => result === 'broken').map(({ name }) => name)
    return [...names, checkOf(report, 'round_trip').result]
  }
  await world.desk.patch('/inboxes/1', { channel: { webhook_url: '' } })
  assert.deepEqual(await told(), ['webhook_address', 'untested'])
  await world.listen()
  await world.desk.post('/inboxes/1/reset_secret')
  assert.deepEqual(await told(), ['webhook_secret', 'untested'])
  assert.deepEqual(operations(world), [])
})

test('a callback that the service refuses: the finding and health have one cure', async () => {
  const clock = new LeapingClock()
  const environment = { WEBHOOK_HMAC_SECRET: 'a Chatwoot 4.3 signs nothing' }
  await using world = await AgentWorld.open({ clock, environment, helpdesk: { clock, version: '4.3' } })
  const { result, sentence, cure } = await failing(world, clock)
  assert.equal(result, 'broken')
  assert.match(sentence, /the service refuses the callbacks of Chatwoot: .*no signature/)
  const { checks } = await world.health()
  assert.deepEqual(
    checks.callbacks_refused.map((refused) => [refused.reason, refused.cure]),
    [['not_signed', cure]],
  )
  assert.match(checks.callbacks_lost[0]?.advice ?? '', /callbacks_refused/)
  assert.doesNotMatch(checks.callbacks_lost[0]?.advice ?? '', /WEBHOOK_HMAC_SECRET/)
})

test('the check without a round trip tells what is known of lost and of refused callbacks', async () => {
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock, allowPrivateNetwork: false } })
  const names = async () => (await checkSetup(world.service, 'n0')).checks.map(({ name }) => name)
  assert.ok(!(await names()).includes('round_trip'))
  const tested = await failing(world, clock)
  assert.deepEqual(checkOf(await checkSetup(world.service, 'n0'), 'round_trip'), tested)
  world.helpdesk.configure({ allowPrivateNetwork: true })
  assert.equal((await roundTrip(world)).result, 'ok')
  assert.ok(!(await names()).includes('round_trip'))
})

test('an inbox that cannot be used is not tested', async () => {
  await using world = await AgentWorld.open({ environment: { DOWNSTREAM_API_TOKEN: 'no such token' } })
  const { result, sentence } = await roundTrip(world)
  assert.equal(result, 'untested')
  assert.match(sentence, /does not accept the API token/)
})
