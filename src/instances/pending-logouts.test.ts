import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allDuties } from '../../test/harness/duties.ts'
import { RecordedLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { ScriptedNetwork, authenticated, closed, jid } from '../../test/harness/scripted-network.ts'
import type { NodeHold } from '../core/nodes/hold.ts'
import type { AuditRecord } from '../core/audit.ts'
import type { LogoutClaim, PendingLogout } from '../storage/stores/accounts/pending-logout-store.ts'
import { PendingLogouts } from './pending-logouts.ts'
import { holds } from '../../test/harness/holds.ts'

const day = 86_400_000
const deleted = { sessionId: 'old', instance: 'deleted', ownerTag: 'x', networkProxy: null }

class ScriptedStore {
  rows: PendingLogout[] = []
  readonly audits: string[] = []
  /** The node that has claimed a logout, by session. */
  readonly claims = new Map<string, string>()
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

  claim({ node }: NodeHold, sessionId: string): Promise<LogoutClaim> {
    if (this.isAway) return Promise.reject(new Error('storage is away'))
    if (!this.rows.some((row) => row.sessionId === sessionId)) return Promise.resolve('done')
    const claimer = this.claims.get(sessionId) ?? node
    this.claims.set(sessionId, claimer)
    return Promise.resolve(claimer === node ? 'claimed' : 'elsewhere')
  }

  release({ node }: NodeHold, sessionId: string): Promise<void> {
    if (this.claims.get(sessionId) === node) this.claims.delete(sessionId)
    return Promise.resolve()
  }

  remove(_hold: NodeHold, sessionId: string, audits: readonly AuditRecord[]): Promise<void> {
    if (this.isAway) return Promise.reject(new Error('storage is away'))
    this.rows = this.rows.filter((row) => row.sessionId !== sessionId)
    this.audits.push(...audits.map(({ action }) => action))
    return Promise.resolve()
  }
}

async function setUp(...sessionIds: string[]) {
  const made = setUpUnstarted(...sessionIds)
  await made.pending.start()
  await made.settle()
  return made
}

function setUpUnstarted(...sessionIds: string[]) {
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
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
  }
  return { clock, network, logouts, logs, duties, pending, settle }
}

describe('a pending logout', () => {
  test('is told if its instance came before the start, also when it is not served yet', async () => {
    const { network, logouts, pending, duties, settle } = setUpUnstarted('old', 'of another node')
    duties.held = () => []
    logouts.rows = logouts.rows.map((row) => (row.sessionId === 'old' ? row : { ...row, instance: 'b' }))
    await pending.take('a')
    assert.equal(pending.has('a'), false)
    await pending.start()
    await settle()
    assert.deepEqual([pending.has('a'), pending.has('b'), network.opened.length], [true, false, 1])
  })

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
    const gone = { sessionId: 'gone', instance: 'a', ownerTag: '', askedAt: clock.now(), networkProxy: null }
    logouts.rows.push(gone)
    pending.add(gone)
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
    const other = { ...row, sessionId: 'other', instance: 'b' }
    logouts.rows.push(other)
    pending.add(other)
    await settle()
    await pending.leave('a')
    assert.deepEqual([pending.has('a'), pending.has('b')], [false, true])
    assert.equal(logouts.rows.length, 2, 'the next holder carries it out')
    await pending.take('a')
    assert.equal(pending.has('a'), true)
  })

  test('only the first node opens sessions of deleted instances', async () => {
    const { clock, network, logouts, duties, pending, settle } = await setUp()
    duties.held = () => []
    duties.isFirst = () => false
    network.stored.set('old', jid)
    logouts.rows.push({ ...deleted, askedAt: clock.now() })
    const opened = async () => {
      await pending.takeDeleted()
      await settle()
      return [network.opened.filter(({ isOpen }) => isOpen).length, pending.count]
    }
    assert.deepEqual(await opened(), [0, 0], 'another node is the first')
    duties.isFirst = () => true
    assert.deepEqual(await opened(), [1, 1])
    duties.isFirst = () => false
    assert.deepEqual(await opened(), [0, 0], 'not the first any more')
  })

  test('a session is opened by one node, also when two take it for theirs; the other one goes on after its release', async () => {
    const { clock, network, logouts, pending, settle } = await setUp('old')
    const other = new PendingLogouts({
      ...{ network, logouts, clock, random: () => 0, log: new RecordedLog().log },
      ...{ duties: allDuties, nodeHold: () => ({ node: 'other', epoch: 1 }) },
    })
    await other.start()
    await clock.advance(60_000)
    assert.deepEqual([network.opened.length, other.count], [1, 1])
    await pending.leave('a')
    assert.equal(network.opened[0]?.isOpen, false)
    while (network.opened.length === 1) await clock.advance(1000)
    network.last.say(authenticated)
    await settle()
    assert.deepEqual([logouts.rows, logouts.audits, other.count], [[], ['instance.logout_told'], 0])
  })

  test('a logout that another node has carried out ends without a trace', async () => {
    const { clock, network, logouts, pending } = await setUp('old')
    network.last.say(closed('transient'))
    logouts.rows = []
    await clock.advance(10_000)
    assert.deepEqual([network.opened.length, logouts.audits, pending.count], [1, [], 0])
  })

  test('the sessions of a node that is cut off are closed, and opened again when the database can be asked', async () => {
    const { clock, network, logouts, pending, settle } = await setUp('old')
    logouts.isAway = true
    pending.cutOff()
    await settle()
    assert.equal(network.last.isOpen, false)
    await clock.advance(600_000)
    assert.deepEqual([network.opened.length, pending.count], [1, 1])
    logouts.isAway = false
    await clock.advance(60_000)
    assert.deepEqual([network.opened.length, network.last.isOpen], [2, true])
  })

  test('a claim that storage could not release is released later', async () => {
    const { clock, logouts, pending } = await setUp('old')
    const release = logouts.release.bind(logouts)
    logouts.release = () => Promise.reject(new Error('storage is away'))
    const left = pending.leave('a')
    await clock.advance(1000)
    assert.equal(logouts.claims.size, 1)
    logouts.release = release
    await clock.advance(10_000)
    await left
    assert.equal(logouts.claims.size, 0)
  })
})
