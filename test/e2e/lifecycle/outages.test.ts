// Blips, flapping and long outages: exactly the events that were decided, no more.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newLocation } from '../../harness/databases.ts'
import { LifecycleStage, owner } from '../../harness/lifecycle-stage.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const minute = 60_000
const outages = ['disconnected', 'unreachable', 'reconnected'] as const

function logins({ linked }: LifecycleStage): number {
  const entries = linked.network.phone(owner)?.companionEvents.entries ?? []
  return entries.filter(({ state }) => state === 'online').length
}

async function linkedStage(options: Parameters<typeof LifecycleStage.open>[0] = {}): Promise<LifecycleStage> {
  const stage = await LifecycleStage.open(options)
  const subscriber = { url: stage.subscribers.url('/o'), events: outages }
  await stage.linked.pair('a', owner, { events_webhook_subscribers: [subscriber] })
  return stage
}

/** Drops the connection and waits until the account is ready again. */
async function blip(stage: LifecycleStage): Promise<void> {
  const before = logins(stage)
  await stage.linked.network.strike({ kind: 'drop', account: owner })
  await stage.linked.reaches('a', 'disconnected')
  await stage.advanceUntil('the account is online again', () => logins(stage) > before)
  await stage.linked.reaches('a', 'ready')
}

test('a blip is one disconnected, and one reconnected 5 s after it was over', async () => {
  await using stage = await linkedStage()
  const droppedAt = stage.clock.now()
  await blip(stage)
  const seconds = Math.round((stage.clock.now() - droppedAt) / 1000)
  await stage.clock.advance(4999)
  await stage.subscribers.gets('/o', 'disconnected')
  assert.equal((await stage.linked.events('a'))['reconnected'], undefined)
  await stage.clock.advance(1)
  const { payload } = await stage.subscribers.gets('/o', 'reconnected')
  assert.equal(payload['downtime_seconds'], seconds)
  await stage.pass(2 * minute)
  assert.deepEqual(stage.subscribers.events('/o'), ['disconnected', 'reconnected'])
})

test('several quick drops are as many disconnected and one reconnected, counted from the first', async () => {
  await using stage = await linkedStage()
  const droppedAt = stage.clock.now()
  await blip(stage)
  for (let n = 0; n < 2; n++) {
    // Not long enough to count as back.
    await stage.clock.advance(3000)
    await blip(stage)
  }
  const seconds = Math.round((stage.clock.now() - droppedAt) / 1000)
  await stage.clock.advance(5000)
  const { payload } = await stage.subscribers.gets('/o', 'reconnected')
  assert.equal(payload['downtime_seconds'], seconds)
  await stage.pass(2 * minute)
  assert.deepEqual(stage.subscribers.events('/o'), ['disconnected', 'disconnected', 'disconnected', 'reconnected'])
})

test('an outage is told as unreachable once, after a minute, however often a login fails', async () => {
  await using stage = await linkedStage()
  await stage.cut()
  await stage.clock.advance(minute - 1)
  await stage.subscribers.gets('/o', 'disconnected')
  assert.equal((await stage.linked.events('a'))['unreachable'], undefined)
  await stage.clock.advance(1)
  await stage.subscribers.gets('/o', 'unreachable')
  const attempts = stage.linked.network.loginAttempts
  await stage.advanceUntil('three more logins failed', async () => {
    await stage.clock.advance(10_000)
    return stage.linked.network.loginAttempts >= attempts + 3
  })
  await stage.restore()
  await stage.clock.advance(5000)
  await stage.subscribers.gets('/o', 'reconnected')
  assert.deepEqual(stage.subscribers.events('/o'), ['disconnected', 'unreachable', 'reconnected'])
})

test('a restart on request is no outage', async () => {
  await using stage = await linkedStage()
  const before = logins(stage)
  await stage.linked.post('/a/restart')
  await waitUntil('the account is online again', () => logins(stage) > before)
  await stage.linked.reaches('a', 'ready')
  await stage.pass(2 * minute)
  // What comes next would come after anything that was told of the restart.
  await blip(stage)
  await stage.subscribers.gets('/o', 'disconnected')
  assert.deepEqual(stage.subscribers.events('/o'), ['disconnected'])
})

test('a start that does not connect within a minute is told, once, over every further start', async () => {
  await using place = await newLocation('sqlite')
  await using stage = await linkedStage({ place })
  stage.linked.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
  await stage.restartService()
  await stage.linked.reaches('a', 'disconnected')
  assert.deepEqual(stage.subscribers.events('/o'), [], 'the end of the process is no outage')
  await stage.clock.advance(minute)
  await stage.subscribers.gets('/o', 'unreachable')
  const [down, unreachable] = await Promise.all([
    stage.subscribers.gets('/o', 'disconnected'),
    stage.subscribers.gets('/o', 'unreachable'),
  ])
  assert.match(String(down.payload['reason']), /./)
  assert.equal(unreachable.payload['reason'], down.payload['reason'])
  await stage.restartService()
  await stage.clock.advance(2 * minute)
  await stage.restore()
  await stage.clock.advance(5000)
  await stage.subscribers.gets('/o', 'reconnected')
  assert.deepEqual(stage.subscribers.events('/o').toSorted(), outages.toSorted())
})
