import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '../../src/storage/database.ts'
import { JournalStore } from '../../src/storage/stores/messages/journal-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { SessionKeyStore } from '../../src/storage/stores/accounts/session-key-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

async function storeWithLease(database: Database): Promise<SessionKeyStore> {
  await new LeaseStore(database).acquire('me', 60_000)
  return new SessionKeyStore(database)
}

for (const engine of engines) {
  describe(`session key store on ${engine}`, () => {
    test('keys are saved, replaced and removed in one go', async () => {
      await using opened = await newDatabase(engine, [Buffer.alloc(32, 1)])
      const keys = await storeWithLease(opened.database)
      await keys.save(holdOf('a'), 's', [
        { kind: 'session', id: 'a', value: Buffer.from('one') },
        { kind: 'session', id: 'b', value: Buffer.from('two') },
      ])
      await keys.save(holdOf('a'), 's', [
        { kind: 'session', id: 'a', value: Buffer.from('three') },
        { kind: 'session', id: 'b', value: null },
      ])
      const found = await keys.load('s', 'session', ['a', 'b', 'c'])
      assert.deepEqual(
        found.map(({ id, value }) => [id, Buffer.from(value).toString()]),
        [['a', 'three']],
      )
    })

    test('sessions and kinds do not see each other', async () => {
      await using opened = await newDatabase(engine)
      const keys = await storeWithLease(opened.database)
      await keys.save(holdOf('a'), 's', [{ kind: 'session', id: 'a', value: Buffer.from('x') }])
      assert.deepEqual(await keys.load('other', 'session', ['a']), [])
      assert.deepEqual(await keys.load('s', 'pre-key', ['a']), [])
      assert.deepEqual(await keys.load('s', 'session', []), [])
    })

    test('the ids of a kind are listed for one session', async () => {
      await using opened = await newDatabase(engine, [Buffer.alloc(32, 1)])
      const keys = await storeWithLease(opened.database)
      const value = Buffer.from('x')
      await keys.save(holdOf('a'), 's', [
        { kind: 'chat-timer', id: 'a', value },
        { kind: 'chat-timer', id: 'b', value },
        { kind: 'session', id: 'c', value },
      ])
      await keys.save(holdOf('a'), 'other', [{ kind: 'chat-timer', id: 'd', value }])
      assert.deepEqual((await keys.idsOf('s', 'chat-timer')).toSorted(), ['a', 'b'])
      assert.deepEqual(await keys.idsOf('nobody', 'chat-timer'), [])
    })

    test('an owner whose epoch is over writes nothing', async () => {
      await using opened = await newDatabase(engine)
      const keys = await storeWithLease(opened.database)
      await keys.save(holdOf('a'), 's', [{ kind: 'session', id: 'a', value: Buffer.from('mine') }])
      const leases = new LeaseStore(opened.database)
      await leases.release('me', 1)
      await leases.acquire('somebody else', 60_000)
      const late = keys.save(holdOf('a'), 's', [{ kind: 'session', id: 'a', value: Buffer.from('stale') }])
      await assert.rejects(late, { name: 'StorageError', failure: 'expectation' })
      await assert.rejects(keys.dropSession(holdOf('a'), 's'), { failure: 'expectation' })
      const [kept] = await keys.load('s', 'session', ['a'])
      assert.equal(Buffer.from(kept?.value ?? []).toString(), 'mine')
    })

    test('a dropped session leaves no key behind', async () => {
      await using opened = await newDatabase(engine)
      const keys = await storeWithLease(opened.database)
      await keys.save(holdOf('a'), 's', [{ kind: 'session', id: 'a', value: Buffer.from('x') }])
      await keys.save(holdOf('a'), 't', [{ kind: 'session', id: 'a', value: Buffer.from('y') }])
      await keys.dropSession(holdOf('a'), 's')
      assert.deepEqual(await keys.load('s', 'session', ['a']), [])
      assert.equal((await keys.load('t', 'session', ['a'])).length, 1)
    })

    test('no write removes more than a hundred rows', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      const keys = await storeWithLease(database)
      const journal = new JournalStore(database)
      const names = Array.from({ length: 250 }, (_, index) => `e${index}`)
      await keys.save(holdOf('a'), 's', [
        { kind: 'creds', id: 'creds', value: Buffer.from('x') },
        ...names.map((id) => ({ kind: 'session', id, value: Buffer.from('x') })),
      ])
      for (const session of ['s', 't']) await database.write(...names.map((name) => journal.opened(session, name, 5)))
      await database.write(journal.opened('t', 'new', 10))
      const removed: number[] = []
      const write = database.write.bind(database)
      database.write = async (...steps) => {
        const counts = await write(...steps)
        removed.push(...counts.slice(1))
        return counts
      }
      await keys.dropSession(holdOf('a'), 's')
      assert.deepEqual(removed, [1, 0, 100, 100, 50, 100, 100, 50])
      assert.deepEqual(await keys.load('s', 'session', ['e0']), [])
      assert.equal(await journal.wasOpened('s', 'e249'), false)
      removed.splice(0)
      assert.equal(await journal.prune(nodeHold(), 10), 250)
      assert.deepEqual(removed, [100, 100, 50])
      assert.equal(await journal.wasOpened('t', 'new'), true)
    })
  })
}
