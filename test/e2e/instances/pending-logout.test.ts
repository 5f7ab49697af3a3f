import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { Database } from '../../../src/storage/database.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { engines } from '../../harness/databases.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { numberOf } from '../../harness/linked-seed.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { perNode } from '../../harness/stranger.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const day = 86_400_000
const removal = 'md set remove-companion-device'
const advice = /linked devices/i

type Pending = { message: string; state: string; pending_logout?: boolean }

const forgotten = (phone: SimPhone) =>
  waitUntil('the phone forgets the device', () => phone.companions.length === 0, {
    instead: () => phone.companions.map(({ id }) => id),
  })

/** Asks for a logout that the network does not answer; more than 5 s pass. */
async function logOutInVain(world: World, clock: LeapingClock): Promise<Pending> {
  const asked = world.command('/n0/logout')
  await world.reaches('n0', 'logged_out')
  await clock.advance(5000)
  const { status, body } = await asked
  assert.equal(status, 200)
  return body as Pending
}

const sessionsWithKeys = (database: Database) =>
  database.read(database.query.selectFrom('session_keys').select('session_id').distinct())

async function keysGone(database: Database): Promise<void> {
  await waitUntil('the keys are gone', async () => (await sessionsWithKeys(database)).length === 0)
}

async function auditActions(world: World): Promise<string[]> {
  const { body } = await world.service.get('/api/audit?instance=n0')
  return (body as { entries: { action: string }[] }).entries.map(({ action }) => action)
}

const pendingCount = async (world: World) => (await world.health()).checks.pending_logouts

// Side by side: most of the time is spent waiting for the network.
describe('a logout that the network does not hear', { concurrency: 3 }, () => {
  for (const engine of engines) {
    test(`survives kill -9, on ${engine}`, async () => {
      await using world = await ProcessWorld.open({ engine })
      await world.allReady()
      await world.network.goAway()
      const { body } = await world.command('/n0/logout')
      assert.equal((body as Pending).pending_logout, true)
      await world.end('SIGKILL')
      await world.network.comeBack()
      await world.startService()
      await forgotten(world.phone)
      assert.equal((await world.detail('n0')).state, 'logged_out')
    })
  }

  for (const engine of drawnEngines(import.meta.url)) {
    test(`is said to be pending, and is made when the network is back, on ${engine}`, async () => {
      const clock = new LeapingClock()
      await using world = await World.open({ engine, clock })
      await world.network.goAway()
      const answer = await logOutInVain(world, clock)
      assert.deepEqual([answer.state, answer.pending_logout], ['logged_out', true])
      assert.match(answer.message, advice)
      const detail = await world.detail('n0')
      assert.deepEqual([detail.state, detail.pending_logout], ['logged_out', true])
      assert.equal(await pendingCount(world), 1)
      assert.equal(world.phone.companions.length, 1)
      await world.network.comeBack()
      await clock.advance(70_000)
      await forgotten(world.phone)
      await keysGone(world.service.database)
      await waitUntil('nothing is pending', async () => (await pendingCount(world)) === 0)
      assert.equal((await world.detail('n0')).pending_logout, false)
      const actions = await auditActions(world)
      assert.deepEqual(actions.slice(0, 2), ['instance.logout_told', 'instance.logout'])
      await world.tells('n0', 'logged_out', 1)
    })

    // Among several nodes the first one waits for 30 s before it opens a session that is to be logged out.
    test(`survives DELETE and a restart, on ${engine}`, { skip: perNode }, async () => {
      const clock = new LeapingClock()
      await using world = await World.open({ engine, clock })
      await world.network.goAway()
      const asked = world.service.request('DELETE', '/api/instances/n0?logout=true')
      await world.reaches('n0', 'logged_out')
      await clock.advance(5000)
      const { status, body } = await asked
      assert.equal(status, 200)
      const { message, pending_logout } = body as Pending
      assert.equal(pending_logout, true)
      assert.match(message, /^deleted/)
      assert.match(message, advice)
      assertRefused(await world.service.get('/api/instances/n0'), 'SERVICE_INSTANCE_NOT_FOUND')
      assert.equal(await pendingCount(world), 1)
      await world.stop()
      await world.network.comeBack()
      await world.restartService()
      await forgotten(world.phone)
      await keysGone(world.service.database)
    })
  }

  test('receives nothing and confirms nothing while it is made', async () => {
    const clock = new LeapingClock()
    await using world = await World.open({ clock, accounts: 2 })
    const [phone, other] = world.phones
    assert.ok(phone && other)
    await world.network.goAway()
    await logOutInVain(world, clock)
    const person = world.network.person({ phone: '5511988880001' })
    const sent = person.text(phone, 'written meanwhile')
    // The session stays logged in for a while, as if it were linked.
    world.network.fault({ kind: 'query_silence', query: removal })
    await world.network.comeBack()
    await clock.advance(8000)
    await world.network.waitForStanza('iq', ({ account, attrs }) => attrs['xmlns'] === 'md' && account === numberOf(0))
    await world.reaches('n1', 'ready')
    await world.arrived(person.text(other, 'to another account'))
    await clock.advance(70_000)
    await forgotten(phone)
    const confirmed = world.network.log
      .find({})
      .filter(({ direction, attrs }) => direction === 'in' && attrs['id'] === sent.id)
    assert.deepEqual(confirmed, [])
    const { database } = world.service
    const stored = () => database.read(database.query.selectFrom('inbox').select('id'))
    await waitUntil('the inbox is empty', async () => (await stored()).length === 0)
    assert.deepEqual(
      world.helpdesk.messages().map(({ content }) => content),
      ['to another account'],
    )
  })

  test('stays apart from a new pairing of the same instance', async () => {
    const clock = new LeapingClock()
    await using world = await World.open({ clock })
    world.network.fault({ kind: 'query_silence', query: removal, times: Infinity })
    assert.equal((await logOutInVain(world, clock)).pending_logout, true)
    await world.command('/n0/refresh-qr')
    await world.phone.scan(await world.qrText('n0'))
    await world.reaches('n0', 'ready')
    assert.equal(world.phone.companions.length, 2)
    const paired = world.phone.companion.id
    world.network.clearFaults()
    await clock.advance(70_000)
    await waitUntil('the phone forgets the old device', () => world.phone.companions.length === 1)
    assert.equal(world.phone.companion.id, paired)
    await waitUntil('the old keys are gone', async () => (await sessionsWithKeys(world.service.database)).length === 1)
    await world.restart()
    const sent = world.network.person({ phone: '5511988880001' }).text(world.phone, 'to the new device')
    await world.arrived(sent)
  })

  test('is done when the phone has removed the device meanwhile', async () => {
    const clock = new LeapingClock()
    await using world = await World.open({ clock })
    await world.network.goAway()
    await logOutInVain(world, clock)
    world.phone.unlink()
    await world.network.comeBack()
    await clock.advance(70_000)
    await keysGone(world.service.database)
    await waitUntil('nothing is pending', async () => (await pendingCount(world)) === 0)
  })

  test('is tried at once when the logout is asked for again', async () => {
    const clock = new LeapingClock()
    await using world = await World.open({ clock })
    await world.network.goAway()
    await logOutInVain(world, clock)
    // The next attempt is minutes away.
    await clock.advance(2 * 3_600_000)
    await world.network.comeBack()
    const { body } = await world.command('/n0/logout')
    assert.deepEqual(body, { message: 'logged out', state: 'logged_out' })
    await forgotten(world.phone)
  })

  test('is given up after 30 days, and its keys are destroyed', async () => {
    const clock = new LeapingClock()
    await using world = await World.open({ clock })
    const { database } = world.service
    await world.network.goAway()
    await logOutInVain(world, clock)
    const asked = clock.now() - 30 * day + 60_000
    await database.write(database.query.updateTable('pending_logouts').set({ asked_at: asked }))
    await world.restartService()
    await world.service.app.workers.get('key-sweep')?.tick()
    assert.equal((await sessionsWithKeys(world.service.database)).length, 1)
    await clock.advance(61_000)
    await keysGone(world.service.database)
    assert.equal(world.phone.companions.length, 1)
    await waitUntil('nothing is pending', async () => (await pendingCount(world)) === 0)
    assert.equal((await auditActions(world))[0], 'instance.logout_expired')
    assert.equal(world.service.logs.withMessage('a session was not logged out within 30 days').length, 1)
  })
})

test('a logout that the network hears in time is not pending', async () => {
  await using world = await World.open()
  const { body } = await world.command('/n0/logout')
  assert.deepEqual(body, { message: 'logged out', state: 'logged_out' })
  await forgotten(world.phone)
  await keysGone(world.service.database)
  assert.equal(await pendingCount(world), 0)
})

describe('a session that was kept after DELETE', () => {
  for (const engine of drawnEngines(import.meta.url)) {
    test(`is logged out by a new pairing of the name, on ${engine}`, async () => {
      await using world = await World.unlinked({ engine })
      const phone = await world.pair('a')
      await world.service.request('DELETE', '/api/instances/a')
      assert.equal(phone.companions.length, 1)
      await world.create({ name: 'a' })
      await phone.scan(await world.qrText('a'))
      await world.reaches('a', 'ready')
      await waitUntil('the phone forgets the first device', () => phone.companions.length === 1)
      await waitUntil('nothing is pending', async () => (await pendingCount(world)) === 0)
      assert.equal((await sessionsWithKeys(world.service.database)).length, 1)
      assert.equal((await world.detail('a')).state, 'ready')
    })
  }

  test('is logged out by DELETE with logout=true, also when the name has no session any more', async () => {
    await using world = await World.unlinked()
    const phone = await world.pair('a')
    await world.service.request('DELETE', '/api/instances/a')
    await world.create({ name: 'a' })
    const { status, body } = await world.service.request('DELETE', '/api/instances/a?logout=true')
    assert.equal(status, 200)
    assert.equal((body as Pending).pending_logout, undefined)
    await forgotten(phone)
    await keysGone(world.service.database)
  })

  test('stays a pending logout while the network is away', async () => {
    const clock = new LeapingClock()
    await using world = await World.unlinked({ clock })
    const phone = await world.pair('a')
    await world.service.request('DELETE', '/api/instances/a')
    await world.create({ name: 'a' })
    await world.network.goAway()
    const asked = world.service.request('DELETE', '/api/instances/a?logout=true')
    await waitUntil('the logout is pending', async () => (await pendingCount(world)) === 1)
    await clock.advance(5000)
    assert.equal(((await asked).body as Pending).pending_logout, true)
    await world.network.comeBack()
    await clock.advance(70_000)
    await forgotten(phone)
  })
})
