// Blips, flapping and long outages: exactly the events that were decided, no more.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { owner } from '../../harness/instance-api.ts'
import { LifecycleWorld } from '../../harness/lifecycle-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const minute = 60_000
const outages = ['disconnected', 'unreachable', 'reconnected'] as const

function logins(world: LifecycleWorld): number {
  const entries = world.network.phone(owner)?.companionEvents.entries ?? []
  return entries.filter(({ state }) => state === 'online').length
}

async function openLinked(options: Parameters<typeof LifecycleWorld.open>[0] = {}): Promise<LifecycleWorld> {
  const world = await LifecycleWorld.open(options)
  const subscriber = { url: world.subscribers.url('/o'), events: outages }
  await world.pair('a', owner, { events_webhook_subscribers: [subscriber] })
  return world
}

/** Drops the connection and waits until the account is ready again; the time at which it was. */
async function blip(world: LifecycleWorld): Promise<number> {
  const before = logins(world)
  await world.network.strike({ kind: 'drop', account: owner })
  await world.reaches('a', 'disconnected')
  await world.advanceUntil('the account is online again', () => logins(world) > before)
  return Date.parse((await world.reaches('a', 'ready')).last_event_at)
}

test('a blip is one disconnected, and one reconnected 5 s after it was over', async () => {
  await using world = await openLinked()
  const droppedAt = world.clock.now()
  const readyAt = await blip(world)
  const seconds = Math.round((readyAt - droppedAt) / 1000)
  await world.clock.advance(readyAt + 4999 - world.clock.now())
  await world.subscribers.gets('/o', 'disconnected')
  assert.equal((await world.events('a'))['reconnected'], undefined)
  await world.clock.advance(1)
  const { payload } = await world.subscribers.gets('/o', 'reconnected')
  assert.equal(payload['downtime_seconds'], seconds)
  await world.pass(2 * minute)
  assert.deepEqual(world.subscribers.events('/o'), ['disconnected', 'reconnected'])
})

test('several quick drops are as many disconnected and one reconnected, counted from the first', async () => {
  await using world = await openLinked()
  const droppedAt = world.clock.now()
  let readyAt = await blip(world)
  for (let n = 0; n < 2; n++) {
    // Not long enough to count as back.
    await world.clock.advance(3000)
    readyAt = await blip(world)
  }
  const seconds = Math.round((readyAt - droppedAt) / 1000)
  await world.clock.advance(5000)
  const { payload } = await world.subscribers.gets('/o', 'reconnected')
  assert.equal(payload['downtime_seconds'], seconds)
  await world.pass(2 * minute)
  assert.deepEqual(world.subscribers.events('/o'), ['disconnected', 'disconnected', 'disconnected', 'reconnected'])
})

test('an outage is told as unreachable once, after a minute, however often a login fails', async () => {
  await using world = await openLinked()
  await world.cut()
  await world.clock.advance(minute - 1)
  await world.subscribers.gets('/o', 'disconnected')
  assert.equal((await world.events('a'))['unreachable'], undefined)
  await world.clock.advance(1)
  await world.subscribers.gets('/o', 'unreachable')
  const attempts = world.network.loginAttempts
  await world.advanceUntil('three more logins failed', async () => {
    await world.clock.advance(10_000)
    return world.network.loginAttempts >= attempts + 3
  })
  await world.restore()
  await world.clock.advance(5000)
  await world.subscribers.gets('/o', 'reconnected')
  assert.deepEqual(world.subscribers.events('/o'), ['disconnected', 'unreachable', 'reconnected'])
})

test('a restart on request is no outage', async () => {
  await using world = await openLinked()
  const before = logins(world)
  await world.command('/a/restart')
  await waitUntil('the account is online again', () => logins(world) > before)
  await world.reaches('a', 'ready')
  await world.pass(2 * minute)
  // What comes next would come after anything that was told of the restart.
  await blip(world)
  await world.subscribers.gets('/o', 'disconnected')
  assert.deepEqual(world.subscribers.events('/o'), ['disconnected'])
})

test('a start that does not connect within a minute is told once, even if more starts follow', async () => {
  await using world = await openLinked()
  world.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
  await world.restartService()
  await world.reaches('a', 'disconnected')
  assert.deepEqual(world.subscribers.events('/o'), [], 'the end of the process is no outage')
  await world.clock.advance(minute)
  await world.subscribers.gets('/o', 'unreachable')
  const [down, unreachable] = await Promise.all([
    world.subscribers.gets('/o', 'disconnected'),
    world.subscribers.gets('/o', 'unreachable'),
  ])
  assert.match(String(down.payload['reason']), /./)
  assert.equal(unreachable.payload['reason'], down.payload['reason'])
  await world.restartService()
  await world.clock.advance(2 * minute)
  await world.restore()
  await world.clock.advance(5000)
  await world.subscribers.gets('/o', 'reconnected')
  assert.deepEqual(world.subscribers.events('/o').toSorted(), outages.toSorted())
})
