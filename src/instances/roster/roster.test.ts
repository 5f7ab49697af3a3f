import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines, newDatabase } from '../../../test/harness/databases.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { sampleInstance, sampleInstanceColumns } from '../../../test/harness/samples.ts'
import { isActive } from '../../core/instance.ts'
import type { InstanceState } from '../../core/instance.ts'
import type { Database, EngineName } from '../../storage/database.ts'
import { InstanceStore } from '../../storage/stores/accounts/instance-store.ts'
import { PendingLogoutStore, pendingLogoutInserts } from '../../storage/stores/accounts/pending-logout-store.ts'
import { Roster } from './roster.ts'
import type { ListedInstance } from './roster.ts'

/** What this node holds. */
class Held {
  readonly #instances = new Map<string, ListedInstance>()

  take(name: string, state: InstanceState = 'ready'): void {
    const qr = { text: 'code', generatedAt: 1000, lifetimeMs: 20_000 }
    this.#instances.set(name, {
      record: sampleInstance(name, { state }),
      ...{ qr, reconnectAttempts: 3, isLogoutPending: false },
    })
  }

  leave(name: string): void {
    this.#instances.delete(name)
  }

  find(name: string): ListedInstance | undefined {
    return this.#instances.get(name)
  }

  has(name: string): boolean {
    return this.#instances.has(name)
  }

  list(): ListedInstance[] {
    return [...this.#instances.values()]
  }

  counts(): { active: number; total: number } {
    const active = this.list().filter(({ record }) => isActive(record.state)).length
    return { active, total: this.#instances.size }
  }
}

/** The real store, whose lists the test counts, delays and fails. */
class WatchedInstances {
  readonly #store: InstanceStore
  lists = 0
  finds = 0
  /** Called after the database has answered, before the caller has the answer. */
  onRead: () => Promise<void> = () => Promise.resolve()

  constructor(database: Database) {
    this.#store = new InstanceStore(database)
  }

  async list() {
    this.lists++
    const rows = await this.#store.list()
    await this.onRead()
    return rows
  }

  find(name: string) {
    this.finds++
    return this.#store.find(name)
  }
}

async function setUp(engine: EngineName) {
  await using stack = new AsyncDisposableStack()
  const { database } = stack.use(await newDatabase(engine))
  const clock = new ManualClock()
  const held = new Held()
  const instances = new WatchedInstances(database)
  const view = { hasPeers: true }
  const roster = new Roster({
    registry: held,
    instances,
    logouts: new PendingLogoutStore(database),
    hasPeers: () => view.hasPeers,
    clock,
  })
  /** As another process does it. */
  const store = (name: string, state: InstanceState = 'disconnected') =>
    database.write(
      database.query
        .insertInto('instances')
        .values(sampleInstanceColumns(name, { state }))
        .onConflict((known) => known.column('name').doUpdateSet({ state })),
    )
  const remove = (name: string) => database.write(database.query.deleteFrom('instances').where('name', '=', name))
  const owned = stack.move()
  const more = { [Symbol.asyncDispose]: () => owned.disposeAsync() }
  return { database, clock, held, instances, view, roster, store, remove, ...more }
}

const statesOf = (listed: readonly ListedInstance[]) => listed.map(({ record: { name, state } }) => [name, state])

for (const engine of engines) {
  describe(`the roster on ${engine}`, () => {
    test('lists what this node holds from memory and the rest from the database, by name', async () => {
      await using stage = await setUp(engine)
      const { roster, held, store } = stage
      await store('a', 'connected')
      await store('b', 'disconnected')
      await store('c', 'logged_out')
      held.take('b', 'ready')
      assert.deepEqual(statesOf(roster.list()), [['b', 'ready']], 'nothing was read yet')
      const listed = await roster.current()
      assert.deepEqual(statesOf(listed), [
        ['a', 'connected'],
        ['b', 'ready'],
        ['c', 'logged_out'],
      ])
      assert.deepEqual(statesOf(roster.list()), statesOf(listed))
      assert.deepEqual(roster.counts(), { active: 2, total: 3 })
    })

    test('shows of a foreign instance what the database knows: no QR code, no attempts, its pending logout', async () => {
      await using stage = await setUp(engine)
      const { roster, held, store, database } = stage
      for (const name of ['a', 'b']) await store(name)
      held.take('c')
      const logout = { sessionId: 's', instance: 'b', ownerTag: '', askedAt: 1000, networkProxy: null }
      await database.write(...pendingLogoutInserts(database, [logout]))
      const expected = [
        ['a', null, 0, false],
        ['b', null, 0, true],
        ['c', 'code', 3, false],
      ]
      const shown = ({ record, qr, reconnectAttempts, isLogoutPending }: ListedInstance) => [
        ...[record.name, qr?.text ?? null, reconnectAttempts, isLogoutPending],
      ]
      assert.deepEqual((await roster.current()).map(shown), expected)
      const one = await Promise.all(['a', 'b', 'c'].map((name) => roster.getCurrent(name)))
      assert.deepEqual(one.map(shown), expected)
    })

    test('without peers nothing is read', async () => {
      await using stage = await setUp(engine)
      const { roster, held, store, instances, view } = stage
      await store('a')
      held.take('b')
      view.hasPeers = false
      assert.deepEqual(statesOf(await roster.current()), [['b', 'ready']])
      await Promise.all([roster.refresh(), roster.freshen()])
      assert.deepEqual([roster.find('a'), await roster.findCurrent('a')], [undefined, undefined])
      await assert.rejects(roster.getCurrent('a'), { code: 'SERVICE_INSTANCE_NOT_FOUND' })
      assert.deepEqual(roster.counts(), { active: 1, total: 1 })
      assert.deepEqual([instances.lists, instances.finds], [0, 0])
    })

    test('finds a foreign instance as it was at the last read, or as it is now', async () => {
      await using stage = await setUp(engine)
      const { roster, store, remove, instances } = stage
      await store('a', 'connected')
      assert.equal(roster.find('a'), undefined)
      await roster.refresh()
      await store('a', 'ready')
      assert.equal(roster.find('a')?.record.state, 'connected')
      assert.equal((await roster.findCurrent('a'))?.record.state, 'ready')
      await remove('a')
      await assert.rejects(roster.getCurrent('a'), {
        code: 'SERVICE_INSTANCE_NOT_FOUND',
        message: 'there is no instance "a"',
      })
      assert.equal(instances.lists, 1, 'one instance is not read with all others')
    })

    test('an instance that this node holds costs no read', async () => {
      await using stage = await setUp(engine)
      stage.held.take('a')
      assert.equal((await stage.roster.getCurrent('a')).record.name, 'a')
      assert.equal(stage.instances.finds, 0)
    })

    test('an instance that this node has given away stays known, one that was deleted here does not', async () => {
      await using stage = await setUp(engine)
      const { roster, held, store, remove } = stage
      for (const name of ['given', 'deleted']) {
        await store(name, 'connected')
        held.take(name)
      }
      await roster.refresh()
      for (const name of ['given', 'deleted']) held.leave(name)
      await remove('deleted')
      roster.forget('deleted')
      assert.deepEqual(statesOf(roster.list()), [['given', 'connected']])
      assert.equal(roster.find('deleted'), undefined)
    })

    test('a read that began before a deletion does not bring the instance back', async () => {
      await using stage = await setUp(engine)
      const { roster, held, store, remove, instances } = stage
      await store('a')
      held.take('a')
      instances.onRead = async () => {
        held.leave('a')
        await remove('a')
        roster.forget('a')
      }
      assert.deepEqual(await roster.current(), [])
      instances.onRead = () => Promise.resolve()
      // An instance that is created again is known again.
      await store('a')
      assert.deepEqual(statesOf(await roster.current()), [['a', 'disconnected']])
    })

    test('callers share reads, and none gets a read that began before it asked', async () => {
      await using stage = await setUp(engine)
      const { roster, store, instances } = stage
      const answered = Promise.withResolvers<void>()
      instances.onRead = async () => {
        instances.onRead = () => Promise.resolve()
        await store('a')
        answered.resolve()
      }
      const early = roster.current()
      const late = answered.promise.then(() => Promise.all([roster.current(), roster.current(), roster.current()]))
      assert.deepEqual(await early, [], 'it read before the instance was there')
      for (const listed of await late) assert.deepEqual(statesOf(listed), [['a', 'disconnected']])
      assert.equal(instances.lists, 2)
    })

    test('the memory is made at most a second old, by one read', async () => {
      await using stage = await setUp(engine)
      const { roster, store, instances, clock } = stage
      await Promise.all([roster.freshen(), roster.freshen()])
      await store('a')
      await clock.advance(999)
      await roster.freshen()
      assert.deepEqual([instances.lists, roster.list()], [1, []])
      await clock.advance(1)
      await roster.freshen()
      assert.deepEqual([instances.lists, roster.counts()], [2, { active: 0, total: 1 }])
    })
  })
}

test('a database that fails or does not answer keeps no one waiting who takes what is in memory', async () => {
  await using stage = await setUp('sqlite')
  const { roster, store, instances, clock } = stage
  await store('a')
  await roster.refresh()
  instances.onRead = () => Promise.reject(new Error('away'))
  await roster.freshen()
  await assert.rejects(roster.current(), /away/)
  const stuck = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  instances.onRead = () => {
    reached.resolve()
    return stuck.promise
  }
  let isOver = false
  const waiting = roster.freshen().then(() => {
    isOver = true
  })
  await reached.promise
  await clock.advance(499)
  assert.equal(isOver, false)
  await clock.advance(1)
  await waiting
  assert.deepEqual(statesOf(roster.list()), [['a', 'disconnected']])
  stuck.resolve()
})
