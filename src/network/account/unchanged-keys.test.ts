// A key that is on disk already is not written again, and the credentials are written once per connection.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeHold } from '../../../test/harness/holds.ts'
import { silentLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { newDatabase } from '../../../test/harness/databases.ts'
import { LeaseStore } from '../../storage/stores/lease-store.ts'
import { SessionKeyStore } from '../../storage/stores/accounts/session-key-store.ts'
import { initAuthCreds } from '../library/library.ts'
import type { AuthenticationCreds } from '../library/library.ts'
import { AccountKeys } from './account-keys.ts'
import { ConnectionKeys } from './connection-keys.ts'

/** Storage that notes the ids of each write, and can hold writes back. */
async function stage() {
  const opened = await newDatabase('sqlite')
  await new LeaseStore(opened.database).acquire('test', 600_000)
  const store = new SessionKeyStore(opened.database)
  const saves: string[][] = []
  let before: Promise<unknown> = Promise.resolve()
  const save: SessionKeyStore['save'] = async (hold, sessionId, writes, more) => {
    saves.push(writes.map(({ id }) => id))
    await before
    await store.save(hold, sessionId, writes, more)
  }
  const stored = { load: store.load.bind(store), save }
  const account = { keys: stored, sessionId: 's', hold: nodeHold(), clock: new ManualClock(), log: silentLog }
  const keys = new AccountKeys({ ...account, onFenced: () => undefined })
  const holdBack = () => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    before = promise
    return resolve
  }
  const storedValue = async (kind: string, id: string) => textOf((await store.load('s', kind, [id]))[0]?.value)
  return {
    keys,
    saves,
    holdBack,
    storedValue,
    [Symbol.asyncDispose]: async () => {
      keys.close()
      await opened[Symbol.asyncDispose]()
    },
  }
}

function textOf(value: Uint8Array | undefined): string | undefined {
  return value && Buffer.from(value).toString()
}

/** What is ready is over before the event loop turns. */
async function isWaiting(work: Promise<unknown>): Promise<boolean> {
  const turn = new Promise<boolean>((resolve) => setImmediate(resolve, true))
  return Promise.race([work.then(() => false), turn])
}

function linkedCreds(): AuthenticationCreds {
  return { ...initAuthCreds(), me: { id: '5511999990001:1@s.whatsapp.net' }, account: {} }
}

test('a key that is on disk with this value is not written again, alone or with others', async () => {
  await using set = await stage()
  const { keys, saves } = set
  await keys.set({ 'device-list': { a: ['0'] } })
  await keys.set({ 'device-list': { a: ['0'] } })
  await keys.set({ 'device-list': { a: ['0'], b: ['0'] } })
  await keys.set({ 'device-list': { a: ['0', '1'] } })
  await keys.set({ 'device-list': { a: null } })
  await keys.set({ 'device-list': { a: null } })
  assert.deepEqual(saves, [['a'], ['b'], ['a'], ['a']])
})

test('a key that was read from disk with this value is not written again', async () => {
  await using set = await stage()
  const { keys, saves } = set
  assert.deepEqual(await keys.get('device-list', ['a']), {})
  await keys.set({ 'device-list': { a: null } })
  assert.deepEqual(saves, [])
})

test('the write of a value that is not on disk yet is waited for', async () => {
  await using set = await stage()
  const { keys, holdBack, storedValue } = set
  const release = holdBack()
  const first = keys.set({ 'device-list': { a: ['0'] } })
  const second = keys.set({ 'device-list': { a: ['0'] } })
  assert.equal(await isWaiting(second), true)
  release(undefined)
  await Promise.all([first, second])
  assert.equal(await storedValue('device-list', 'a'), '["0"]')
})

test('a value that comes back while another one is under way is the one on disk', async () => {
  await using set = await stage()
  const { keys, holdBack, storedValue } = set
  await keys.set({ 'device-list': { a: ['0'] } })
  const release = holdBack()
  const others = keys.set({ 'device-list': { a: ['1'] } })
  const back = keys.set({ 'device-list': { a: ['0'] } })
  release(undefined)
  await Promise.all([others, back])
  assert.equal(await storedValue('device-list', 'a'), '["0"]')
})

test('credentials without a change are written once per connection, and changed ones each time', async () => {
  await using set = await stage()
  const { keys, saves } = set
  const creds = linkedCreds()
  const first = new ConnectionKeys({ keys, creds })
  await first.saveCreds()
  await first.saveCreds()
  assert.equal(saves.length, 1)
  creds.accountSyncCounter += 1
  await first.saveCreds()
  assert.equal(saves.length, 2)
  await new ConnectionKeys({ keys, creds }).saveCreds()
  assert.equal(saves.length, 3)
})

test('credentials that were stored with new prekeys meanwhile are written again', async () => {
  await using set = await stage()
  const { keys, saves } = set
  const connection = new ConnectionKeys({ keys, creds: linkedCreds() })
  await connection.saveCreds()
  const other = linkedCreds()
  await keys.set({ creds: { creds: other } })
  await connection.saveCreds()
  assert.equal(saves.length, 3)
})

test('who stores the same credentials again waits for the first write', async () => {
  await using set = await stage()
  const { keys, holdBack, storedValue } = set
  const connection = new ConnectionKeys({ keys, creds: linkedCreds() })
  const release = holdBack()
  void connection.saveCreds()
  const again = connection.saveCreds()
  assert.equal(await isWaiting(again), true)
  release(undefined)
  await again
  assert.notEqual(await storedValue('creds', 'creds'), undefined)
})
