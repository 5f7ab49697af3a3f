import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { engines, newLocation } from '../../harness/databases.ts'
import { LinkedStage } from '../../harness/linked-stage.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const owner = '5511999990001'
const minute = 60_000

const logins = (phone: SimPhone) => phone.companionEvents.entries.filter(({ state }) => state === 'online').length

/** Refuses every login from now on and drops the connection. */
async function refuse(stage: LinkedStage, code: number, ban?: { code: number; expire: number }): Promise<void> {
  stage.network.fault({ kind: 'login_failure', code, times: Infinity, ...(ban && { ban }) })
  await stage.network.strike({ kind: 'drop', account: owner })
}

/** Moves the clock until the next attempt has been made. */
async function advanceToNextAttempt(stage: LinkedStage, clock: ManualClock, ms: number): Promise<void> {
  const before = stage.network.loginAttempts
  await clock.advance(ms)
  await waitUntil('another login is tried', () => stage.network.loginAttempts > before)
}

describe('a connection', () => {
  for (const engine of engines) {
    test(`that drops comes back by itself, on ${engine}`, async () => {
      await using place = await newLocation(engine)
      await using stage = await LinkedStage.open({ engine, place })
      const phone = await stage.pair('a')
      const before = logins(phone)
      await stage.network.strike({ kind: 'drop', account: owner })
      await waitUntil('the account is online again', () => logins(phone) > before)
      await stage.reaches('a', 'ready')
      await stage.tells('a', 'disconnected', 1)
      await stage.tells('a', 'connected', 1)
    })
  }

  test('survives a restart of the network', async () => {
    await using stage = await LinkedStage.open()
    const phone = await stage.pair('a')
    const before = logins(phone)
    await stage.network.restart()
    await waitUntil('the account is online again', () => logins(phone) > before)
    await stage.reaches('a', 'ready')
  })

  test('that goes deaf is found by an unanswered ping and rebuilt', async () => {
    const clock = new ManualClock()
    await using stage = await LinkedStage.open({ clock })
    const phone = await stage.pair('a')
    const before = logins(phone)
    await stage.network.strike({ kind: 'silence', account: owner })
    await clock.advance(29_999)
    assert.equal((await stage.detail('a')).state, 'ready')
    await clock.advance(1)
    await waitUntil('the ping waits for its answer', () => clock.pending > 0)
    await clock.advance(10_000)
    const down = await stage.reaches('a', 'disconnected')
    assert.match(down.last_error ?? '', /ping/)
    await clock.advance(2000)
    await waitUntil('the account is online again', () => logins(phone) > before)
    await stage.reaches('a', 'ready')
  })

  test('that another client takes over waits a minute, tries once, and then stays away until a restart', async () => {
    const clock = new ManualClock()
    await using stage = await LinkedStage.open({ clock })
    const phone = await stage.pair('a')
    const replace = () => stage.network.strike({ kind: 'stream_error', account: owner, reason: 'replaced' })
    await replace()
    const down = await stage.reaches('a', 'disconnected')
    assert.match(down.last_error ?? '', /another|elsewhere|replaced/i)
    const before = logins(phone)
    await clock.advance(minute - 1)
    assert.equal(logins(phone), before)
    await clock.advance(1)
    await waitUntil('one try is made', () => logins(phone) > before)
    await stage.reaches('a', 'ready')
    await replace()
    await stage.reaches('a', 'disconnected')
    await clock.advance(60 * minute)
    assert.equal((await stage.detail('a')).state, 'disconnected')
    assert.equal(logins(phone), before + 1)
    await stage.post('/a/restart')
    await stage.reaches('a', 'ready')
  })
})

describe('a refused login', () => {
  test('401 is a logout', async () => {
    await using stage = await LinkedStage.open()
    await stage.pair('a')
    await refuse(stage, 401)
    const gone = await stage.reaches('a', 'logged_out')
    assert.equal(gone.last_jid, `${owner}@s.whatsapp.net`)
    await stage.tells('a', 'logged_out', 1)
    assert.equal((await stage.events('a'))['strike'], undefined)
  })

  test('403 is a strike and a logout', async () => {
    await using stage = await LinkedStage.open()
    await stage.pair('a')
    await refuse(stage, 403)
    await stage.reaches('a', 'logged_out')
    await stage.tells('a', 'strike', 1)
    await stage.tells('a', 'logged_out', 1)
  })

  for (const code of [405, 409, 411]) {
    test(`${code} says what to do and is tried every 15 minutes`, async () => {
      const clock = new ManualClock()
      await using stage = await LinkedStage.open({ clock })
      await stage.pair('a')
      await refuse(stage, code)
      await stage.reaches('a', 'disconnected')
      await advanceToNextAttempt(stage, clock, 2000)
      const refused = await stage.reaches('a', 'disconnected')
      assert.ok((refused.last_error ?? '').length > 20, refused.last_error ?? '')
      const attempts = stage.network.loginAttempts
      await clock.advance(15 * minute - 3000)
      assert.equal(stage.network.loginAttempts, attempts)
      await stage.tells('a', 'disconnected', 2)
      await clock.advance(3000)
      await waitUntil('it is tried again', () => stage.network.loginAttempts > attempts)
      await stage.reaches('a', 'disconnected')
      await stage.tells('a', 'disconnected', 2)
      stage.network.clearFaults()
      await clock.advance(15 * minute)
      await stage.reaches('a', 'ready')
    })
  }

  for (const code of [500, 503]) {
    test(`${code} passes: tried again after a growing pause`, async () => {
      const clock = new ManualClock()
      await using stage = await LinkedStage.open({ clock })
      await stage.pair('a')
      await refuse(stage, code)
      await stage.reaches('a', 'disconnected')
      for (let attempt = 1; attempt <= 3; attempt++) {
        await advanceToNextAttempt(stage, clock, 1.2 * 1000 * 2 ** (attempt - 1))
        await stage.reaches('a', 'disconnected')
      }
      assert.equal((await stage.detail('a')).reconnect_attempts, 4)
      stage.network.clearFaults()
      await clock.advance(20_000)
      await stage.reaches('a', 'ready')
      await stage.tells('a', 'disconnected', 1)
    })
  }

  test('402 is a strike; the next try waits for the end of the ban', async () => {
    const clock = new ManualClock()
    await using stage = await LinkedStage.open({ clock })
    await stage.pair('a')
    await refuse(stage, 402, { code: 101, expire: 3600 })
    await stage.reaches('a', 'disconnected')
    await advanceToNextAttempt(stage, clock, 2000)
    await stage.tells('a', 'strike', 1)
    const banned = await stage.reaches('a', 'disconnected')
    assert.match(banned.last_error ?? '', /ban/i)
    stage.network.clearFaults()
    const attempts = stage.network.loginAttempts
    await clock.advance(55 * minute)
    assert.equal(stage.network.loginAttempts, attempts)
    await clock.advance(5 * minute + 2000)
    await stage.reaches('a', 'ready')
  })

  test('402 is waited for over a restart of the service, without a second strike', async () => {
    await using place = await newLocation('sqlite')
    const clock = new ManualClock()
    await using stage = await LinkedStage.open({ clock, place })
    await stage.pair('a')
    await refuse(stage, 402, { code: 101, expire: 40 * 24 * 3600 })
    await stage.reaches('a', 'disconnected')
    await advanceToNextAttempt(stage, clock, 2000)
    await stage.tells('a', 'strike', 1)
    await stage.reaches('a', 'disconnected')
    await stage.restartService()
    const attempts = stage.network.loginAttempts
    const banned = await stage.reaches('a', 'disconnected')
    assert.match(banned.last_error ?? '', /ban/i)
    await clock.advance(39 * 24 * 60 * minute)
    assert.equal(stage.network.loginAttempts, attempts)
    assert.equal((await stage.events('a'))['strike'], undefined, 'not told again')
    stage.network.clearFaults()
    await clock.advance(24 * 60 * minute)
    await stage.reaches('a', 'ready')
  })
})

describe('refresh-qr beside a stored session', () => {
  test('the stored session wins when it comes back first', async () => {
    await using stage = await LinkedStage.open()
    const phone = await stage.pair('a')
    await refuse(stage, 503)
    await stage.reaches('a', 'disconnected')
    stage.network.clearFaults()
    await stage.post('/a/refresh-qr')
    await stage.reaches('a', 'ready')
    assert.equal(phone.companions.length, 1, 'still the first link')
    assert.equal((await stage.detail('a')).qr.available, false)
  })

  test('the scan wins when it comes first, and the old session is dropped', async () => {
    const clock = new ManualClock()
    await using stage = await LinkedStage.open({ clock })
    const phone = await stage.pair('a')
    await stage.network.strike({ kind: 'drop', account: owner })
    await stage.reaches('a', 'disconnected')
    const { state } = (await stage.post('/a/refresh-qr')).body as { state: string }
    assert.equal(state, 'qr_pending')
    await phone.scan(await stage.qrText('a'))
    await stage.reaches('a', 'ready')
    assert.equal(phone.companions.length, 2)
    const { database } = stage.service
    await waitUntil('only the new session has keys', async () => {
      const keys = await database.read(database.query.selectFrom('session_keys').select('session_id').distinct())
      return keys.length === 1
    })
  })

  test('POST with the name tries the session first and opens a pairing after 10 s', async () => {
    const clock = new ManualClock()
    await using stage = await LinkedStage.open({ clock })
    await stage.pair('a')
    await refuse(stage, 503)
    await stage.reaches('a', 'disconnected')
    const before = stage.network.loginAttempts
    assert.equal((await stage.post('', { name: 'a' })).status, 200)
    await waitUntil('the session is tried at once', () => stage.network.loginAttempts > before)
    await stage.reaches('a', 'disconnected')
    await clock.advance(10_000)
    await stage.reaches('a', 'qr_pending')
  })
})
