// The memory of an account's keys: what it answers, what it forgets, and who wins.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AccountKeys } from '../../src/network/account/account-keys.ts'
import { DeviceCache } from '../../src/network/account/device-cache.ts'
import type { NodeHold } from '../../src/core/nodes/hold.ts'
import type { SessionKey, SessionKeyWrite } from '../../src/storage/stores/accounts/session-key-store.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { silentLog } from '../harness/logs.ts'
import { nodeHold } from '../harness/holds.ts'

const dayMs = 86_400_000

/** Storage in memory whose answers can be held back. */
class SlowStore {
  readonly rows = new Map<string, Uint8Array>()
  loads = 0
  saves: SessionKeyWrite[][] = []
  gate: Promise<unknown> = Promise.resolve()

  async load(_session: string, kind: string, ids: readonly string[]): Promise<SessionKey[]> {
    this.loads += 1
    const found = ids.flatMap((id) => {
      const value = this.rows.get(`${kind} ${id}`)
      return value ? [{ kind, id, value }] : []
    })
    await this.gate
    return found
  }

  async save(_hold: NodeHold, _session: string, writes: readonly SessionKeyWrite[]): Promise<void> {
    await this.gate
    this.saves.push([...writes])
    for (const { kind, id, value } of writes) {
      if (value) this.rows.set(`${kind} ${id}`, value)
      else this.rows.delete(`${kind} ${id}`)
    }
  }
}

function keysOn(store: SlowStore, limits = { entries: 100, bytes: 100_000 }): AccountKeys {
  const onFenced = () => undefined
  return new AccountKeys({
    keys: store,
    sessionId: 's',
    hold: nodeHold(),
    clock: new ManualClock(),
    log: silentLog,
    limits,
    onFenced,
  })
}

test('a key and a miss are read from storage once', async () => {
  const store = new SlowStore()
  store.rows.set('session a', Buffer.from('{"x":1}'))
  const keys = keysOn(store)
  for (let n = 0; n < 3; n++) assert.deepEqual(await keys.get('session', ['a', 'b']), { a: { x: 1 } })
  assert.equal(store.loads, 1)
})

test('a caller can change a key that it got without changing the key in memory', async () => {
  const store = new SlowStore()
  store.rows.set('session a', Buffer.from('{"x":1}'))
  const keys = keysOn(store)
  const { a } = (await keys.get('session', ['a'])) as { a: { x: number } }
  a.x = 2
  assert.deepEqual(await keys.get('session', ['a']), { a: { x: 1 } })
})

test('a write during a read from storage wins over the answer', async () => {
  const store = new SlowStore()
  store.rows.set('session a', Buffer.from('"old"'))
  const keys = keysOn(store, { entries: 1, bytes: 100_000 })
  const gate = Promise.withResolvers<undefined>()
  store.gate = gate.promise
  const reading = keys.get('session', ['a'])
  const written = keys.set({ session: { a: 'new' } })
  assert.deepEqual(await keys.get('session', ['a']), { a: 'new' })
  gate.resolve(undefined)
  await written
  await keys.set({ session: { b: 'pushes a out' } })
  assert.deepEqual(await reading, { a: 'new' })
  assert.deepEqual(await keys.get('session', ['a']), { a: 'new' })
})

test('a write resolves when it is stored; changes that come meanwhile are merged into the next save', async () => {
  const store = new SlowStore()
  const keys = keysOn(store)
  const gate = Promise.withResolvers<undefined>()
  store.gate = gate.promise
  let durable = false
  const first = keys.set({ session: { a: 1 } }).then(() => (durable = true))
  await new Promise((resolve) => setImmediate(resolve))
  const others = [2, 3, 4].map((n) => keys.set({ session: { a: n } }))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(durable, false)
  gate.resolve(undefined)
  await Promise.all([first, ...others])
  assert.deepEqual(
    store.saves.map((writes) => writes.map(({ value }) => Buffer.from(value ?? []).toString())),
    [['1'], ['4']],
  )
})

test('a step is visible and stored as a whole, or not at all; steps run one after the other', async () => {
  const store = new SlowStore()
  const keys = keysOn(store)
  const failing = keys.runStep(async () => {
    await keys.setInStep({ session: { a: 'half' } })
    assert.deepEqual(await keys.getInStep('session', ['a']), { a: 'half' })
    assert.deepEqual(await keys.get('session', ['a']), {})
    throw new Error('not for this session')
  })
  const second = keys.runStep(async () => {
    assert.deepEqual(await keys.getInStep('session', ['a']), {})
    await keys.setInStep({ session: { a: 'whole' }, 'identity-key': { a: Buffer.from([5]) } })
  })
  await assert.rejects(failing, /not for this session/)
  await second
  assert.equal(store.saves.length, 1)
  assert.equal(store.saves[0]?.length, 2)
  assert.deepEqual(await keys.get('session', ['a']), { a: 'whole' })
})

test('memory stays within its bounds, and prekeys are not kept once they are stored', async () => {
  const store = new SlowStore()
  const limits = { entries: 50, bytes: 20_000 }
  const keys = keysOn(store, limits)
  const preKeys = Object.fromEntries(
    Array.from({ length: 812 }, (_, id) => [id, { public: Buffer.alloc(32), private: Buffer.alloc(32) }]),
  )
  await keys.set({ 'pre-key': preKeys })
  assert.equal(keys.remembered.entries, 0)
  for (let n = 0; n < 500; n++) await keys.set({ session: { [`contact ${n}`]: 'x'.repeat(n % 3 === 0 ? 2_000 : 10) } })
  assert.ok(keys.remembered.entries <= limits.entries && keys.remembered.bytes <= limits.bytes)
  await keys.get(
    'session',
    Array.from({ length: 300 }, (_, n) => `contact ${n}`),
  )
  assert.ok(keys.remembered.entries <= limits.entries && keys.remembered.bytes <= limits.bytes)
  assert.equal(Object.keys(await keys.get('pre-key', ['1', '811', '900'])).length, 2)
})

test('a list of devices is trusted for a day', async () => {
  const clock = new ManualClock()
  const cache = new DeviceCache({ keys: keysOn(new SlowStore()), clock })
  cache.set('bob', [1, 2])
  await clock.advance(dayMs - 1)
  assert.deepEqual(await cache.get('bob'), [1, 2])
  await clock.advance(1)
  assert.equal(await cache.get('bob'), undefined)
})

test('a key that is not stored yet is never forgotten', async () => {
  const store = new SlowStore()
  const gate = Promise.withResolvers<undefined>()
  const keys = keysOn(store, { entries: 5, bytes: 100_000 })
  store.gate = gate.promise
  const written = Array.from({ length: 50 }, (_, n) => keys.set({ session: { [`contact ${n}`]: n } }))
  assert.ok(keys.remembered.entries >= 50)
  gate.resolve(undefined)
  await Promise.all(written)
  await keys.set({ session: { last: 1 } })
  assert.ok(keys.remembered.entries <= 5)
})
