import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { manyHours } from '../../harness/stranger.ts'
import { World } from '../../harness/world.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const owner = '5511999990001'
const minute = 60_000

const logins = (phone: SimPhone) => phone.companionEvents.entries.filter(({ state }) => state === 'online').length

/** Refuses every login from now on and drops the connection. */
async function refuse(world: World, code: number, ban?: { code: number; expire: number }): Promise<void> {
  world.network.fault({ kind: 'login_failure', code, times: Infinity, ...(ban && { ban }) })
  await world.network.strike({ kind: 'drop', account: owner })
}

/** Moves the clock until the next attempt has been made. */
async function advanceToNextAttempt(world: World, clock: ManualClock, ms: number): Promise<void> {
  const before = world.network.loginAttempts
  await clock.advance(ms)
  await waitUntil('another login is tried', () => world.network.loginAttempts > before)
}

describe('a connection', () => {
  for (const engine of drawnEngines(import.meta.url)) {
    test(`that drops comes back by itself, on ${engine}`, async () => {
      await using world = await World.unlinked({ engine })
      const phone = await world.pair('a')
      const before = logins(phone)
      await world.network.strike({ kind: 'drop', account: owner })
      await waitUntil('the account is online again', () => logins(phone) > before)
      await world.reaches('a', 'ready')
      await world.tells('a', 'disconnected', 1)
      await world.tells('a', 'connected', 1)
    })
  }

  test('survives a restart of the network', async () => {
    await using world = await World.unlinked()
    const phone = await world.pair('a')
    const before = logins(phone)
    await world.network.restart()
    await waitUntil('the account is online again', () => logins(phone) > before)
    await world.reaches('a', 'ready')
  })

  test('that goes deaf is found by an unanswered ping and rebuilt', async () => {
    const clock = new ManualClock()
    await using world = await World.unlinked({ clock })
    const phone = await world.pair('a')
    const before = logins(phone)
    await world.network.strike({ kind: 'silence', account: owner })
    await clock.advance(29_999)
    assert.equal((await world.detail('a')).state, 'ready')
    await clock.advance(1)
    // In steps that are shorter than the pause before the next login.
    await waitUntil('the ping is given up', async () => {
      await clock.advance(500)
      return (await world.detail('a')).state === 'disconnected'
    })
    const down = await world.detail('a')
    assert.match(down.last_error ?? '', /ping/)
    await clock.advance(2000)
    await waitUntil('the account is online again', () => logins(phone) > before)
    await world.reaches('a', 'ready')
  })

  test('that another client takes over waits a minute, tries once, and then stays away until a restart', async () => {
    const clock = new ManualClock()
    await using world = await World.unlinked({ clock })
    const phone = await world.pair('a')
    const replace = () => world.network.strike({ kind: 'stream_error', account: owner, reason: 'replaced' })
    await replace()
    const down = await world.reaches('a', 'disconnected')
    assert.match(down.last_error ?? '', /another|elsewhere|replaced/i)
    const before = logins(phone)
    await clock.advance(minute - 1)
    assert.equal(logins(phone), before)
    await clock.advance(1)
    await waitUntil('one try is made', () => logins(phone) > before)
    await world.reaches('a', 'ready')
    await replace()
    await world.reaches('a', 'disconnected')
    await clock.advance(60 * minute)
    assert.equal((await world.detail('a')).state, 'disconnected')
    assert.equal(logins(phone), before + 1)
    await world.command('/a/restart')
    await world.reaches('a', 'ready')
  })
})

describe('a refused login', () => {
  test('401 is a logout', async () => {
    await using world = await World.unlinked()
    await world.pair('a')
    await refuse(world, 401)
    const gone = await world.reaches('a', 'logged_out')
    assert.equal(gone.last_jid, `${owner}@s.whatsapp.net`)
    await world.tells('a', 'logged_out', 1)
    assert.equal((await world.events('a'))['strike'], undefined)
  })

  test('403 is a strike and a logout', async () => {
    await using world = await World.unlinked()
    await world.pair('a')
    await refuse(world, 403)
    await world.reaches('a', 'logged_out')
    await world.tells('a', 'strike', 1)
    await world.tells('a', 'logged_out', 1)
  })

  for (const code of [405, 409, 411]) {
    test(`${code} says what to do and is tried every 15 minutes`, async () => {
      const clock = new ManualClock()
      await using world = await World.unlinked({ clock })
      await world.pair('a')
      await refuse(world, code)
      await world.reaches('a', 'disconnected')
      await advanceToNextAttempt(world, clock, 2000)
      const refused = await world.reaches('a', 'disconnected')
      assert.ok((refused.last_error ?? '').length > 20, refused.last_error ?? '')
      const attempts = world.network.loginAttempts
      await clock.advance(15 * minute - 3000)
      assert.equal(world.network.loginAttempts, attempts)
      await world.tells('a', 'disconnected', 2)
      await clock.advance(3000)
      await waitUntil('it is tried again', () => world.network.loginAttempts > attempts)
      await world.reaches('a', 'disconnected')
      await world.tells('a', 'disconnected', 2)
      world.network.clearFaults()
      await clock.advance(15 * minute)
      await world.reaches('a', 'ready')
    })
  }

  for (const code of [500, 503]) {
    test(`${code} passes: tried again after a growing pause`, async () => {
      const clock = new ManualClock()
      await using world = await World.unlinked({ clock })
      await world.pair('a')
      await refuse(world, code)
      await world.reaches('a', 'disconnected')
      for (let attempt = 1; attempt <= 3; attempt++) {
        await advanceToNextAttempt(world, clock, 1.2 * 1000 * 2 ** (attempt - 1))
        await world.reaches('a', 'disconnected')
      }
      assert.equal((await world.detail('a')).reconnect_attempts, 4)
      world.network.clearFaults()
      await clock.advance(20_000)
      await world.reaches('a', 'ready')
      await world.tells('a', 'disconnected', 1)
    })
  }

  test('402 is a strike; the next try waits for the end of the ban', async () => {
    const clock = new ManualClock()
    await using world = await World.unlinked({ clock })
    await world.pair('a')
    await refuse(world, 402, { code: 101, expire: 3600 })
    await world.reaches('a', 'disconnected')
    await advanceToNextAttempt(world, clock, 2000)
    await world.tells('a', 'strike', 1)
    const banned = await world.reaches('a', 'disconnected')
    assert.match(banned.last_error ?? '', /ban/i)
    world.network.clearFaults()
    const attempts = world.network.loginAttempts
    await clock.advance(55 * minute)
    assert.equal(world.network.loginAttempts, attempts)
    await clock.advance(5 * minute + 2000)
    await world.reaches('a', 'ready')
  })

  test('402 is remembered over a restart of the service, without a second strike', { skip: manyHours }, async () => {
    const clock = new ManualClock()
    await using world = await World.unlinked({ clock })
    await world.pair('a')
    await refuse(world, 402, { code: 101, expire: 30 * 3600 })
    await world.reaches('a', 'disconnected')
    await advanceToNextAttempt(world, clock, 2000)
    await world.tells('a', 'strike', 1)
    await world.reaches('a', 'disconnected')
    await world.restartService()
    const attempts = world.network.loginAttempts
    const banned = await world.reaches('a', 'disconnected')
    assert.match(banned.last_error ?? '', /ban/i)
    await clock.advance(29 * 60 * minute)
    assert.equal(world.network.loginAttempts, attempts)
    assert.equal((await world.events('a'))['strike'], undefined, 'not told again')
    world.network.clearFaults()
    await clock.advance(60 * minute + 2000)
    await world.reaches('a', 'ready')
  })
})

describe('refresh-qr beside a stored session', () => {
  test('the stored session wins when it comes back first', async () => {
    await using world = await World.unlinked()
    const phone = await world.pair('a')
    await refuse(world, 503)
    await world.reaches('a', 'disconnected')
    world.network.clearFaults()
    await world.command('/a/refresh-qr')
    await world.reaches('a', 'ready')
    assert.equal(phone.companions.length, 1, 'still the first link')
    assert.equal((await world.detail('a')).qr.available, false)
  })

  test('the scan wins when it comes first, and the old session is dropped', async () => {
    const clock = new ManualClock()
    await using world = await World.unlinked({ clock })
    const phone = await world.pair('a')
    await world.network.strike({ kind: 'drop', account: owner })
    await world.reaches('a', 'disconnected')
    const { state } = (await world.command('/a/refresh-qr')).body as { state: string }
    assert.equal(state, 'qr_pending')
    await phone.scan(await world.qrText('a'))
    await world.reaches('a', 'ready')
    assert.equal(phone.companions.length, 2)
    const { database } = world.service
    await waitUntil('only the new session has keys', async () => {
      const keys = await database.read(database.query.selectFrom('session_keys').select('session_id').distinct())
      return keys.length === 1
    })
  })

  test('POST with the name tries the session first and opens a pairing after 10 s', async () => {
    const clock = new ManualClock()
    await using world = await World.unlinked({ clock })
    await world.pair('a')
    await refuse(world, 503)
    await world.reaches('a', 'disconnected')
    const before = world.network.loginAttempts
    assert.equal((await world.create({ name: 'a' })).status, 200)
    await waitUntil('the session is tried at once', () => world.network.loginAttempts > before)
    await world.reaches('a', 'disconnected')
    await clock.advance(10_000)
    await world.reaches('a', 'qr_pending')
  })
})
