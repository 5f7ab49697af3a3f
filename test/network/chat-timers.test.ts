// The memory of the timers in chats: the newest setting wins, under every address of a person, with few reads.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeHold } from '../../src/core/nodes/hold.ts'
import type { ToldTimer } from '../../src/core/chat-timer.ts'
import { AccountKeys } from '../../src/network/account/account-keys.ts'
import { ChatTimers } from '../../src/network/account/chat-timers.ts'
import type { SessionKey, SessionKeyWrite } from '../../src/storage/stores/accounts/session-key-store.ts'
import { silentLog } from '../harness/logs.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { nodeHold } from '../harness/holds.ts'

const bob = { phone: '5511888880001', lid: null }
const bobById = { phone: null, lid: '200000000000001' }

/** Storage in memory that counts what it is asked. */
class CountingStore {
  readonly rows = new Map<string, Uint8Array>()
  readonly loaded: string[] = []
  lists = 0
  saves = 0

  load(_session: string, kind: string, ids: readonly string[]): Promise<SessionKey[]> {
    this.loaded.push(kind)
    const found = ids.flatMap((id) => {
      const value = this.rows.get(`${kind} ${id}`)
      return value ? [{ kind, id, value }] : []
    })
    return Promise.resolve(found)
  }

  idsOf(_session: string, kind: string): Promise<string[]> {
    this.lists += 1
    const names = [...this.rows.keys()].filter((name) => name.startsWith(`${kind} `))
    return Promise.resolve(names.map((name) => name.slice(kind.length + 1)))
  }

  save(_hold: NodeHold, _session: string, writes: readonly SessionKeyWrite[]): Promise<void> {
    this.saves += 1
    for (const { kind, id, value } of writes) if (value) this.rows.set(`${kind} ${id}`, value)
    return Promise.resolve()
  }
}

function open(store = new CountingStore()) {
  const common = { sessionId: 's', clock: new ManualClock(), log: silentLog }
  const keys = new AccountKeys({ ...common, keys: store, hold: nodeHold(), onFenced: () => undefined })
  const timers = new ChatTimers({ keys, store, sessionId: 's' })
  const learn = (person: typeof bob | typeof bobById, told: Partial<ToldTimer>) =>
    keys.runStep(() =>
      timers.learn(person, { seconds: 60, setAt: 0, toldAt: 1000, by: 'chat', isSetting: false, ...told }),
    )
  return { store, keys, timers, learn }
}

test('chats without a timer cost one read for the whole account', async () => {
  const { store, timers } = open()
  for (let n = 0; n < 3; n++) assert.equal(await timers.of({ phone: `551188888000${n}`, lid: null }), undefined)
  assert.deepEqual([store.lists, store.loaded], [1, []])
})

test('a timer is remembered by the next process, and a message that repeats it writes nothing', async () => {
  const { store, learn } = open()
  assert.equal(await learn(bob, { seconds: 60, setAt: 500 }), true)
  const { saves } = store
  assert.equal(await learn(bob, { seconds: 60, setAt: 500 }), false)
  assert.equal(store.saves, saves)
  assert.equal((await open(store).timers.of(bob))?.seconds, 60)
})

test('the newest setting wins, and of two undated messages the later one', async () => {
  const { timers, learn } = open()
  const seconds = async () => (await timers.of(bob))?.seconds
  assert.equal(await learn(bob, { seconds: 60, toldAt: 1000 }), true)
  assert.equal(await learn(bob, { seconds: 70, toldAt: 900 }), false)
  assert.equal(await learn(bob, { seconds: 80, toldAt: 1100 }), true)
  assert.equal(await seconds(), 80)
  assert.equal(await learn(bob, { seconds: 90, setAt: 800 }), true)
  assert.equal(await learn(bob, { seconds: 60, toldAt: 2000 }), false)
  assert.equal(await learn(bob, { seconds: 60, setAt: 700, isSetting: true }), false)
  assert.equal(await learn(bob, { seconds: 60, setAt: 800 }), false)
  assert.equal(await seconds(), 90)
  assert.equal(await learn(bob, { seconds: 0, setAt: 800, isSetting: true }), true)
  assert.equal(await seconds(), 0)
})

test('both addresses of a person have the newest timer of the two, from the moment the pair is known', async () => {
  const { keys, timers, learn } = open()
  await learn(bob, { seconds: 60, setAt: 500 })
  await learn(bobById, { seconds: 70, setAt: 600 })
  assert.deepEqual([(await timers.of(bob))?.seconds, (await timers.of(bobById))?.seconds], [60, 70])
  await keys.set({ 'lid-mapping': { [bob.phone]: bobById.lid, [`${bobById.lid}_reverse`]: bob.phone } })
  assert.deepEqual([(await timers.of(bob))?.seconds, (await timers.of(bobById))?.seconds], [70, 70])
  assert.equal(await learn(bob, { seconds: 60, setAt: 550 }), false)
  assert.equal(await learn(bob, { seconds: 80, setAt: 700 }), true)
  assert.equal((await timers.of(bobById))?.seconds, 80)
})

test('a step that fails teaches nothing', async () => {
  const { keys, timers } = open()
  const told = { seconds: 60, setAt: 500, toldAt: 500, by: 'chat' as const, isSetting: true }
  const failing = keys.runStep(async () => {
    await timers.learn(bob, told)
    throw new Error('the message cannot be stored')
  })
  await assert.rejects(failing, /cannot be stored/)
  assert.equal(await timers.of(bob), undefined)
})

test('a timer that was only noted is told with the first message that shows it', async () => {
  const { timers, learn } = open()
  await timers.note(bob, { seconds: 60, setAt: 500, toldAt: 0, by: 'me' })
  assert.equal((await timers.of(bob))?.seconds, 60)
  assert.equal(await learn(bob, { seconds: 60, setAt: 500 }), true)
  assert.equal(await learn(bob, { seconds: 60, setAt: 500 }), false)
  await timers.note(bob, { seconds: 90, setAt: 400, toldAt: 0, by: 'me' })
  assert.equal((await timers.of(bob))?.seconds, 60)
})
