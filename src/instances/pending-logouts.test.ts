import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allDuties } from '../../test/harness/duties.ts'
import { RecordedLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { ScriptedNetwork, authenticated, closed, jid } from '../../test/harness/scripted-network.ts'
import type { NodeHold } from '../core/nodes/hold.ts'
import type { AuditRecord } from '../core/audit.ts'
import type { PendingLogout } from '../storage/stores/accounts/pending-logout-store.ts'
import { PendingLogouts } from './pending-logouts.ts'
import { holds } from '../../test/harness/holds.ts'

const day = 86_400_000
const deleted = { sessionId: 'old', instance: 'deleted', ownerTag: 'x', networkProxy: null }

class ScriptedStore {
  rows: PendingLogout[] = []
  readonly audits: string[] = []
  isAway = false

  list(): Promise<PendingLogout[]> {
    return Promise.resolve(this.rows)
  }

  listOf(instance: string): Promise<PendingLogout[]> {
    return Promise.resolve(this.rows.filter((row) => row.instance === instance))
  }

  listOfDeleted(): Promise<PendingLogout[]> {
    return this.listOf('deleted')
  }

  remove(_hold: NodeHold, sessionId: string, audits: readonly AuditRecord[]): Promise<void> {
    if (this.isAway) return Promise.reject(new Error('storage is away'))
    this.rows = this.rows.filter((row) => row.sessionId !== sessionId)
    this.audits.push(...audits.map(({ action }) => action))
    return Promise.resolve()
  }
}

async function setUp(...sessionIds: string[]) {
  const clock = new ManualClock()
  const network = new ScriptedNetwork()
  const logouts = new ScriptedStore()
  const logs = new RecordedLog()
  for (const sessionId of sessionIds) {
    network.stored.set(sessionId, jid)
    logouts.rows.push({ sessionId, instance: 'a', ownerTag: 'x', askedAt: clock.now(), networkProxy: null })
  }
  const duties = { ...allDuties }
  const shared = { network, logouts, duties, ...holds, clock }
  const pending = new PendingLogouts({ ...shared, random: () => 0, log: logs.log })
  await pending.start()
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
  }
  await settle()
  return { clock, network, logouts, logs, duties, pending, settle }
}

describe('a pending logout', () => {
  test('is told right after the login, and then its row and its keys are removed', async () => {
    const { network, logouts, pending, settle } = await setUp('old')
    assert.equal(pending.has('a'), true)
    network.last.say(authenticated)
    await settle()
    assert.deepEqual([logouts.rows, logouts.audits, network.forgotten], [[], ['instance.logout_told'], ['old']])
    assert.equal(pending.has('a'), false)
  })

  test('is tried again after growing pauses', async () => {
    const { clock, network, settle } = await setUp('old')
    const pauses: number[] = []
    for (let attempt = 0; attempt < 8; attempt++) {
      const before = network.opened.length
      network.last.say(closed('transient'))
      await settle()
      const failedAt = clock.monotonic()
      while (network.opened.length === before) await clock.advance(100)
      pauses.push(clock.monotonic() - failedAt)
    }
    assert.deepEqual(pauses, [800, 1600, 3200, 6400, 12_800, 25_600, 48_000, 48_000])
  })

  test('is done when the network does not know the session any more', async () => {
    const { network, pending, settle } = await setUp('old')
    network.last.say(closed('invalidated'))
    await settle()
    assert.equal(pending.count, 0)
  })

  test('is done when its keys are gone, and opens no pairing', async () => {
    const { clock, network, logouts, pending } = await setUp()
    pending.add({ sessionId: 'gone', instance: 'a', ownerTag: '', askedAt: clock.now(), networkProxy: null })
    assert.equal(await pending.hurry('a', 1000), true)
    assert.deepEqual([network.opened, logouts.audits], [[], ['instance.logout_told']])
  })

  test('is given up 30 days after it was asked for', async () => {
    const { clock, network, logouts, logs, pending, settle } = await setUp('old')
    network.last.say(closed('transient'))
    await settle()
    let attempts = 0
    while (clock.monotonic() < 30 * day - 3_600_000) {
      if (network.last.isOpen) {
        network.last.say(closed('client_refused'))
        attempts++
      }
      await clock.advance(900_000)
    }
    assert.ok(attempts > 1000, `${attempts} attempts`)
    assert.equal(pending.count, 1)
    network.last.say(closed('client_refused'))
    await clock.advance(3_700_000)
    assert.deepEqual([logouts.audits, network.forgotten, pending.count], [['instance.logout_expired'], ['old'], 0])
    assert.equal(logs.withMessage('a session was not logged out within 30 days').length, 1)
  })

  test('waits for storage before its keys are removed', async () => {
    const { clock, network, logouts, pending, settle } = await setUp('old')
    logouts.isAway = true
    network.last.say(authenticated)
    await settle()
    assert.deepEqual([network.forgotten, pending.count], [[], 1])
    logouts.isAway = false
    await clock.advance(10_000)
    assert.deepEqual([network.forgotten, pending.count], [['old'], 0])
  })

  test('leaves the row and the keys to the next process when this one stops', async () => {
    const { network, logouts, pending } = await setUp('old')
    await pending[Symbol.asyncDispose]()
    assert.deepEqual([logouts.rows.length, network.forgotten, network.last.isOpen], [1, [], false])
  })
})

test('at most two sessions are opened at once only to be logged out', async () => {
  const { network, pending, settle } = await setUp('one', 'two', 'three')
  assert.deepEqual(
    network.opened.map(({ sessionId }) => sessionId),
    ['one', 'two'],
  )
  network.opened[0]?.say(authenticated)
  await settle()
  assert.equal(network.last.sessionId, 'three')
  assert.equal(pending.count, 2)
})

describe('on several nodes', () => {
  test('the logouts of an instance that leaves end, and those of other instances go on', async () => {
    const { network, logouts, pending, settle } = await setUp('old')
    const [row] = logouts.rows
    assert.ok(row)
    network.stored.set('other', jid)
    pending.add({ ...row, sessionId: 'other', instance: 'b' })
    await settle()
    await pending.leave('a')
    assert.deepEqual([pending.has('a'), pending.has('b')], [false, true])
    assert.equal(logouts.rows.length, 1, 'the next holder carries it out')
    await pending.take('a')
    assert.equal(pending.has('a'), true)
  })

  test('only the first node opens sessions of deleted instances, after the one before it has ended its attempts', async () => {
    const { clock, network, logouts, duties, pending, settle } = await setUp()
    duties.held = () => []
    duties.isFirst = () => false
    duties.isAlone = () => false
    network.stored.set('old', jid)
    logouts.rows.push({ ...deleted, askedAt: clock.now() })
    const opened = async (ms: number) => {
      await clock.advance(ms)
      await pending.takeDeleted()
      await settle()
      return [network.opened.length, pending.count]
    }
    assert.deepEqual(await opened(60_000), [0, 0], 'another node is the first')
    duties.isFirst = () => true
    assert.deepEqual(await opened(0), [0, 0], 'the node before may still have the session open')
    assert.deepEqual(await opened(29_999), [0, 0])
    assert.deepEqual(await opened(1), [1, 1])
    duties.isFirst = () => false
    assert.deepEqual(await opened(0), [1, 0], 'not the first any more')
    duties.isFirst = () => true
    assert.deepEqual(await opened(0), [1, 0], 'the wait begins again')
  })

  test('a node without others opens sessions of deleted instances at once', async () => {
    const { clock, network, logouts, duties, pending, settle } = await setUp()
    duties.held = () => []
    network.stored.set('old', jid)
    logouts.rows.push({ ...deleted, askedAt: clock.now() })
    await pending.start()
    await settle()
    assert.deepEqual([network.opened.length, pending.count], [1, 1])
    duties.isAlone = () => false
    await pending.takeDeleted()
    assert.equal(pending.count, 0, 'another node may have been the first before')
  })
})
