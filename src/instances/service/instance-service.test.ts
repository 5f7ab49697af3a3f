// The life of an instance while storage fails. The database, the parts and the network do what the test says.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allDuties } from '../../../test/harness/duties.ts'
import { noLogouts } from '../../../test/harness/no-logouts.ts'
import { silentLog } from '../../../test/harness/logs.ts'
import { createSoleArrivals } from '../../app/nodes/sole-supply.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { ScriptedNetwork, jid } from '../../../test/harness/scripted-network.ts'
import { NotHeldError } from '../../core/nodes/hold.ts'
import type { Hold } from '../../core/nodes/hold.ts'
import type { InstanceName } from '../../core/ids.ts'
import { Semaphore } from '../../lib/queues/semaphore.ts'
import type { InstanceStore } from '../../storage/stores/accounts/instance-store.ts'
import type { InstanceChanges, InstanceRow, KeptSession } from '../../storage/stores/accounts/instance-rows.ts'
import { InstanceRegistry } from '../instance-registry.ts'
import { InstanceService } from './instance-service.ts'
import { PendingLogouts } from '../pending-logouts.ts'
import { Reachability } from '../reachability.ts'
import { holds } from '../../../test/harness/holds.ts'

const name = 'a'

class ScriptedStore {
  readonly rows = new Map<InstanceName, InstanceRow>()
  kept: KeptSession[] = []
  failure: Error | undefined

  find(name: string): Promise<InstanceRow | undefined> {
    return Promise.resolve(this.rows.get(name))
  }

  insert(hold: Hold, row: InstanceRow): Promise<void> {
    return this.put(hold, row)
  }

  async put(_hold: Hold, row: InstanceRow): Promise<void> {
    await this.#answer()
    this.rows.set(row.name, row)
  }

  async update({ instance: name }: Hold, changes: InstanceChanges): Promise<void> {
    await this.#answer()
    const row = this.rows.get(name)
    if (row) this.rows.set(name, { ...row, ...changes })
  }

  async remove({ instance }: Hold, keep: KeptSession | null): Promise<void> {
    await this.#answer()
    this.rows.delete(instance)
    if (keep) this.kept.push(keep)
  }

  async keptSessions(): Promise<KeptSession[]> {
    await this.#answer()
    return this.kept
  }

  async giveUpKeptSessions(): Promise<void> {
    await this.#answer()
    this.kept = []
  }

  #answer(): Promise<void> {
    return this.failure ? Promise.reject(this.failure) : Promise.resolve()
  }
}

/** The parts and the messages of an instance. */
class ScriptedParts {
  readonly taken = new Set<InstanceName>()
  takeFailure: Error | undefined
  leaveFailure: Error | undefined
  forgetFailure: Error | undefined
  leftoverFailure: Error | undefined
  readonly leftovers: InstanceName[] = []

  take(instance: InstanceName): Promise<void> {
    if (this.takeFailure) return Promise.reject(this.takeFailure)
    assert.ok(!this.taken.has(instance), 'the parts are taken twice')
    this.taken.add(instance)
    return Promise.resolve()
  }

  leave(instance: InstanceName): Promise<void> {
    this.taken.delete(instance)
    return this.leaveFailure ? Promise.reject(this.leaveFailure) : Promise.resolve()
  }

  undelivered(): Promise<number> {
    return Promise.resolve(0)
  }

  notImported(): Promise<number> {
    return Promise.resolve(0)
  }

  failLeftovers(name: InstanceName): Promise<void> {
    this.leftovers.push(name)
    return this.leftoverFailure ? Promise.reject(this.leftoverFailure) : Promise.resolve()
  }

  forget(): Promise<void> {
    return this.forgetFailure ? Promise.reject(this.forgetFailure) : Promise.resolve()
  }
}

function setUp({ history = { enabled: false, days: 7 } } = {}) {
  const clock = new ManualClock()
  const network = new ScriptedNetwork()
  const store = new ScriptedStore()
  const parts = new ScriptedParts()
  const deleted: string[] = []
  const shared = { instances: store as unknown as InstanceStore, network, ...holds, clock }
  const steady = { ...shared, random: () => 0.5, log: silentLog }
  const pendingLogouts = new PendingLogouts({ ...steady, logouts: noLogouts, duties: allDuties })
  const registry = new InstanceRegistry({
    ...steady,
    pendingLogouts,
    parts,
    gate: new Semaphore(4),
    qrLifetimeMs: 20_000,
    asksHistory: true,
    lifecycle: {
      prepare: ({ ownerTag }, event, extras = {}) => ({ event, instance: name, ownerTag, extras, deliveries: [] }),
      stored: () => undefined,
    },
    graces: { unreachableMs: 60_000, reconnectedMs: 5000 },
    reachability: new Reachability(steady),
    onChange: () => undefined,
  })
  const service = new InstanceService({
    ...shared,
    registry,
    arrivals: createSoleArrivals(registry),
    pendingLogouts,
    messages: parts,
    onDeleted: () => {
      deleted.push(name)
      return Promise.resolve()
    },
    onChanged: () => undefined,
    history,
  })
  /** Lets everything that can go on without time passing go on. */
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
  }
  return { clock, network, store, parts, deleted, registry, service, settle }
}

/** An instance with a session that is connecting. */
async function linked() {
  const stage = setUp()
  stage.store.kept = [
    { sessionId: 'stored', name, ownerTag: '', jid, keptAt: stage.clock.now(), networkProxy: null, linkedAt: null },
  ]
  await stage.service.create(name, {}, true, 'api')
  stage.store.kept = []
  await stage.settle()
  assert.deepEqual(sessionsOf(stage.network), ['stored'])
  return stage
}

function sessionsOf(network: ScriptedNetwork): string[] {
  return network.opened.filter(({ isOpen }) => isOpen).map(({ sessionId }) => sessionId)
}

describe('an instance that is created while its parts cannot be read', () => {
  test('connects its kept session as soon as the parts are taken', async () => {
    const { service, network, parts, store, clock, settle } = setUp()
    store.kept = [
      { sessionId: 'stored', name, ownerTag: '', jid, keptAt: clock.now(), networkProxy: null, linkedAt: null },
    ]
    parts.takeFailure = new Error('storage is away')
    const asked = service.create(name, {}, true, 'api')
    await settle()
    await clock.advance(1000)
    assert.equal(store.rows.size, 1)
    assert.deepEqual(sessionsOf(network), [], 'nothing is received before the parts are taken')
    parts.takeFailure = undefined
    await clock.advance(5000)
    assert.equal((await asked).created, true)
    await settle()
    assert.deepEqual([...parts.taken], [name])
    assert.deepEqual(sessionsOf(network), ['stored'])
  })

  test('opens its pairing after the parts are taken, and a second request finds it', async () => {
    const { service, network, parts, clock, settle } = setUp()
    parts.takeFailure = new Error('storage is away')
    const asked = service.create(name, {}, false, 'api')
    const again = service.create(name, {}, false, 'api')
    await settle()
    assert.deepEqual(sessionsOf(network), [])
    parts.takeFailure = undefined
    await clock.advance(5000)
    assert.deepEqual([(await asked).created, (await again).created], [true, false])
    await settle()
    assert.deepEqual([...parts.taken], [name])
    assert.equal(sessionsOf(network).length, 1)
  })

  test('does not delay the end of the process', async () => {
    const { service, network, parts, registry, settle } = setUp()
    parts.takeFailure = new Error('storage is away')
    const asked = assert.rejects(service.create(name, {}, false, 'api'), { code: 'SERVICE_INSTANCE_NOT_FOUND' })
    await settle()
    await registry[Symbol.asyncDispose]()
    await asked
    assert.deepEqual(sessionsOf(network), [])
  })
})

test('an instance is created only after the messages that an earlier one of its name left have failed', async () => {
  const { service, store, parts } = setUp()
  parts.leftoverFailure = new Error('storage is away')
  await assert.rejects(service.create(name, {}, false, 'api'), /storage is away/)
  assert.equal(store.rows.has(name), false)
  parts.leftoverFailure = undefined
  await service.create(name, {}, false, 'api')
  assert.deepEqual(parts.leftovers, [name, name])
})

test('an instance of a request that was not answered is listed only after its new settings are stored', async () => {
  const { service, network, store, registry, settle } = setUp()
  store.insert = async (hold, row) => {
    await store.put(hold, row)
    throw new Error('the answer is lost')
  }
  await assert.rejects(service.create(name, { inboxId: 1 }, false, 'api'), /the answer is lost/)
  store.failure = new Error('storage is away')
  await assert.rejects(service.create(name, { inboxId: 2 }, false, 'api'), /storage is away/)
  assert.equal(registry.has(name), false)
  assert.equal(store.rows.get(name)?.inboxId, 1)
  store.failure = undefined
  const { created, account } = await service.create(name, { inboxId: 2 }, false, 'api')
  await settle()
  assert.deepEqual([created, account.record.inboxId, store.rows.get(name)?.inboxId], [true, 2, 2])
  assert.equal(sessionsOf(network).length, 1)
})

describe('a deletion that fails', () => {
  test('reports its own error, and the account goes on when storage is back', async () => {
    const { service, network, parts, store, registry, clock, settle } = await linked()
    store.failure = new Error('the removal was not stored')
    parts.takeFailure = new Error('the parts cannot be read')
    await assert.rejects(service.remove(name, false, 'api'), /the removal was not stored/)
    assert.deepEqual(sessionsOf(network), [])
    await clock.advance(10_000)
    store.failure = undefined
    parts.takeFailure = undefined
    // A pause before the next attempt takes up to 6 s.
    await clock.advance(6000)
    await settle()
    assert.deepEqual([...parts.taken], [name])
    assert.deepEqual(sessionsOf(network), ['stored'])
    assert.equal(registry.get(name).record.sessionId, 'stored')
  })

  test('because the network keeps the session does not cost the connection', async () => {
    const { service, network, settle } = await linked()
    network.release = () => Promise.reject(new Error('the keys were not stored'))
    await assert.rejects(service.remove(name, false, 'api'), /the keys were not stored/)
    await settle()
    assert.deepEqual(sessionsOf(network), ['stored'])
  })

  test('because another node has the instance by now does not open the session here again', async () => {
    const { service, network, store, clock, settle } = await linked()
    store.failure = new NotHeldError(name)
    await assert.rejects(service.remove(name, false, 'api'), NotHeldError)
    store.failure = undefined
    await clock.advance(10_000)
    await settle()
    assert.deepEqual(sessionsOf(network), [])
  })

  test('can be repeated before the account goes on', async () => {
    const { service, network, parts, store, registry, settle } = await linked()
    parts.leaveFailure = new Error('the counts were not stored')
    parts.takeFailure = new Error('the parts cannot be read')
    await assert.rejects(service.remove(name, false, 'api'), /the counts were not stored/)
    await settle()
    parts.leaveFailure = undefined
    await service.remove(name, false, 'api')
    assert.equal(registry.has(name), false)
    assert.equal(store.rows.size, 0)
    assert.deepEqual(sessionsOf(network), [])
  })
})

describe('a deleted instance', () => {
  test('whose messages cannot be forgotten is let go all the same, and the failure is reported', async () => {
    const { service, network, parts, store, registry, deleted, settle } = await linked()
    store.kept = [{ sessionId: 'kept before', name, ownerTag: '', jid, keptAt: 1, networkProxy: null, linkedAt: null }]
    parts.forgetFailure = new Error('the messages were not removed')
    await assert.rejects(service.remove(name, true, 'api'), /the messages were not removed/)
    await settle()
    assert.equal(registry.has(name), false)
    assert.deepEqual(deleted, [name], 'the events that wait are taken up again')
    assert.deepEqual([...parts.taken], [])
    assert.deepEqual(store.kept, [])
    assert.ok(network.forgotten.includes('kept before'))
  })

  test('lets go of an open pairing when a part does not leave', async () => {
    const { service, network, parts, deleted, settle } = setUp()
    const { account } = await service.create(name, {}, false, 'api')
    await settle()
    const { pairingSessionId } = account.record
    assert.ok(pairingSessionId)
    parts.forget = () => {
      parts.leaveFailure = new Error('the counts were not stored')
      return Promise.resolve()
    }
    await assert.rejects(service.remove(name, false, 'api'), /the counts were not stored/)
    assert.deepEqual(deleted, [name])
    assert.deepEqual(network.forgotten, [pairingSessionId])
  })
})

describe('the history of an instance', () => {
  test('is imported as the service is set, unless the caller says otherwise', async () => {
    const { service } = setUp({ history: { enabled: true, days: 12 } })
    const { account } = await service.create(name, {}, false, 'api')
    assert.deepEqual([account.record.isHistoryEnabled, account.record.historyDays], [true, 12])
    const other = await service.create('other', { isHistoryEnabled: false, historyDays: 3 }, false, 'api')
    assert.deepEqual([other.account.record.isHistoryEnabled, other.account.record.historyDays], [false, 3])
  })

  test('cannot be switched on while the import is switched off, and nothing is stored', async () => {
    const { service, store } = setUp()
    const refused = { code: 'SERVICE_HISTORY_DISABLED' }
    await assert.rejects(service.create(name, { isHistoryEnabled: true }, false, 'api'), refused)
    assert.equal(store.rows.size, 0)
    const { account } = await service.create(name, { isHistoryEnabled: false }, false, 'api')
    await assert.rejects(service.patch(name, { isHistoryEnabled: true, historyDays: 3 }, 'api'), refused)
    await assert.rejects(service.create(name, { isHistoryEnabled: true }, false, 'api'), refused)
    assert.deepEqual([account.record.isHistoryEnabled, account.record.historyDays], [false, 7])
  })
})
