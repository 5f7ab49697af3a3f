import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import type { CompiledQuery } from 'kysely'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { AuditStore } from '../../src/storage/stores/ledger/audit-store.ts'
import { Database } from '../../src/storage/database.ts'
import type { Row } from '../../src/storage/engine/statement.ts'
import { InstanceStore } from '../../src/storage/stores/accounts/instance-store.ts'
import { JournalStore } from '../../src/storage/stores/messages/journal-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { blankInstance } from '../../src/storage/stores/accounts/instance-rows.ts'
import { PendingLogoutStore } from '../../src/storage/stores/accounts/pending-logout-store.ts'
import { SessionKeyStore } from '../../src/storage/stores/accounts/session-key-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleAudit, sampleInstance } from '../harness/samples.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

async function storeWithLease(database: Database): Promise<InstanceStore> {
  await new LeaseStore(database).acquire('me', 60_000)
  return new InstanceStore(database)
}

/** The same database; other work comes between each read and what follows it. */
function afterEachRead(database: Database, work: () => Promise<void>): Database {
  return new Database(database.engine, {
    read: async (statement, opens) => {
      const rows = await database.read<Row>({ compile: () => statement as CompiledQuery<Row> }, opens)
      await work()
      return rows
    },
    write: async (statements) => (await database.write(...statements)).map((changes) => ({ rows: [], changes })),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  })
}

const actions = async (database: Database) =>
  (await new AuditStore(database).list({ limit: 10 })).map(({ action }) => action)
const plain = (rows: readonly object[]) => rows.map((row) => ({ ...row }))

for (const engine of engines) {
  describe(`instance store on ${engine}`, () => {
    test('instances are listed by name as they were inserted, with their audit entries', async () => {
      await using opened = await newDatabase(engine)
      const instances = await storeWithLease(opened.database)
      const rows = [sampleInstance('b', { jid: '1@s.whatsapp.net', pairedAt: 5 }), sampleInstance('a')]
      for (const row of rows) await instances.insert(holdOf('a'), row, sampleAudit({ action: 'instance.create' }))
      assert.deepEqual(plain(await instances.list()), rows.toReversed())
      assert.deepEqual(await actions(opened.database), ['instance.create', 'instance.create'])
    })

    test('a name exists once, and a refused insert leaves no audit entry', async () => {
      await using opened = await newDatabase(engine)
      const instances = await storeWithLease(opened.database)
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      await assert.rejects(instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit()), { failure: 'constraint' })
      assert.equal((await actions(opened.database)).length, 1)
    })

    test('an update changes what it names; of an unknown instance it is refused', async () => {
      await using opened = await newDatabase(engine)
      const instances = await storeWithLease(opened.database)
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      await instances.update(
        holdOf('a'),
        { state: 'ready', jid: 'x' },
        { audits: [sampleAudit({ action: 'instance.paired' })] },
      )
      assert.deepEqual(plain(await instances.list()), [sampleInstance('a', { state: 'ready', jid: 'x' })])
      assert.deepEqual((await actions(opened.database))[0], 'instance.paired')
      await assert.rejects(instances.update(holdOf('b'), { state: 'ready' }, {}), { failure: 'expectation' })
    })

    test('a process that does not hold the instance any more changes nothing', async () => {
      await using opened = await newDatabase(engine)
      const instances = await storeWithLease(opened.database)
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      await assert.rejects(instances.insert(nodeHold(2), sampleInstance('b'), sampleAudit()), NotHeldError)
      await assert.rejects(instances.update(holdOf('a', 2), { state: 'ready' }, {}), NotHeldError)
      await assert.rejects(instances.remove(holdOf('a', 2), null, sampleAudit()), NotHeldError)
      assert.deepEqual(plain(await instances.list()), [sampleInstance('a')])
    })

    test('a proxy is stored sealed to its row, in each of the tables that hold one', async () => {
      await using opened = await newDatabase(engine, [randomBytes(32)])
      const { database } = opened
      const instances = await storeWithLease(database)
      const networkProxy = 'http://user:canary@proxy:1'
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      await instances.update(holdOf('a'), { networkProxy, outgoingRateLimit: 0 }, {})
      const row = sampleInstance('a', { networkProxy, outgoingRateLimit: 0 })
      assert.deepEqual([await instances.find('a'), ...(await instances.list())], [row, row])
      await instances.update(holdOf('a'), { networkProxy: null }, {})
      assert.equal((await instances.find('a'))?.networkProxy, null)
      await instances.put(holdOf('a'), row, {})
      assert.deepEqual(await instances.find('a'), row)
      const kept = { sessionId: 's', name: 'a', ownerTag: 'x', jid: 'j', keptAt: 10, networkProxy, linkedAt: 5 }
      const logout = { sessionId: 's', instance: 'a', ownerTag: 'x', askedAt: 20, networkProxy }
      const stored = async (table: 'instances' | 'kept_sessions' | 'pending_logouts') =>
        (await database.read(database.query.selectFrom(table).select('network_proxy'))).map(
          ({ network_proxy: bytes }) => Buffer.from(bytes ?? []).toString('latin1'),
        )
      const sealed = await stored('instances')
      await instances.remove(holdOf('a'), kept, sampleAudit())
      assert.deepEqual(await instances.keptSessions('a'), [kept])
      sealed.push(...(await stored('kept_sessions')))
      await instances.giveUpKeptSessions(holdOf('a'), [logout])
      assert.deepEqual(await new PendingLogoutStore(database).list(), [logout])
      sealed.push(...(await stored('pending_logouts')))
      assert.deepEqual([sealed.length, sealed.some((text) => text.includes('canary'))], [3, false])
      assert.equal(new Set(sealed).size, 3)
    })

    test('a removed instance leaves its session to be resumed, until that is given up', async () => {
      await using opened = await newDatabase(engine)
      const instances = await storeWithLease(opened.database)
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      const kept = {
        sessionId: 's',
        name: 'a',
        ownerTag: 'x',
        jid: 'j',
        keptAt: 10,
        networkProxy: null,
        linkedAt: null,
      }
      await instances.remove(holdOf('a'), kept, sampleAudit({ action: 'instance.delete' }))
      assert.deepEqual(await instances.list(), [])
      assert.deepEqual(plain(await instances.keptSessions('a')), [kept])
      const logout = { sessionId: 's', instance: 'a', ownerTag: 'x', askedAt: 20, networkProxy: null }
      await instances.giveUpKeptSessions(holdOf('a'), [logout])
      assert.deepEqual(await instances.keptSessions('a'), [])
      assert.deepEqual(plain(await new PendingLogoutStore(opened.database).list()), [logout])
    })

    test('an instance that takes up a kept session leaves none behind, one that pairs anew does', async () => {
      await using opened = await newDatabase(engine)
      const instances = await storeWithLease(opened.database)
      const kept = { sessionId: 's', name: 'a', ownerTag: '', jid: 'j', keptAt: 10, networkProxy: null, linkedAt: null }
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      await instances.remove(holdOf('a'), kept, sampleAudit())
      assert.deepEqual(await instances.keptSessions('a', 11), [])
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      assert.deepEqual(plain(await instances.keptSessions('a', 10)), [kept])
      await instances.remove(holdOf('a'), null, sampleAudit())
      await instances.insert(holdOf('a'), sampleInstance('a', { sessionId: 's' }), sampleAudit())
      assert.deepEqual(await instances.keptSessions('a'), [])
      await instances.remove(holdOf('a'), kept, sampleAudit())
      assert.deepEqual(plain(await instances.keptSessions('a')), [kept])
    })

    test('orphans are keys that neither an instance, a pairing, a pending logout nor a session kept recently refers to', async () => {
      await using opened = await newDatabase(engine)
      const instances = await storeWithLease(opened.database)
      const keys = new SessionKeyStore(opened.database)
      const ids = ['linked', 'staged', 'previous', 'kept', 'leaving', 'old', 'orphan']
      const journal = new JournalStore(opened.database)
      await opened.database.write(journal.unfinished('orphan', { stanzaId: 'A', stanza: Buffer.from('x') }, 1))
      for (const id of ids) await keys.save(holdOf('a'), id, [{ kind: 'creds', id: '', value: Buffer.from('x') }])
      await instances.insert(
        holdOf('a'),
        sampleInstance('a', { sessionId: 'linked', pairingSessionId: 'staged', previousSessionId: 'previous' }),
        sampleAudit(),
      )
      for (const [sessionId, keptAt] of [
        ['kept', 20],
        ['old', 5],
      ] as const) {
        await instances.insert(holdOf('a'), sampleInstance(sessionId), sampleAudit())
        await instances.remove(
          holdOf(sessionId),
          { sessionId, name: sessionId, ownerTag: '', jid: 'j', keptAt, networkProxy: null, linkedAt: null },
          sampleAudit(),
        )
      }
      const logout = { sessionId: 'leaving', instance: 'a', ownerTag: '', askedAt: 1, networkProxy: null }
      await instances.update(holdOf('a'), {}, { logouts: [logout] })
      await instances.dropOrphans(nodeHold(), 10)
      const left: string[] = []
      for (const id of ids) if ((await keys.load(id, 'creds', [''])).length > 0) left.push(id)
      assert.deepEqual(left, ['linked', 'staged', 'previous', 'kept', 'leaving'])
      assert.deepEqual(await journal.loadUnfinished('orphan'), [])
      assert.equal((await instances.keptSessions('old')).length, 0)
    })

    test('a session that a record refers to since the orphans were read keeps its keys', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      const instances = await storeWithLease(database)
      const keys = new SessionKeyStore(database)
      const stored = ['creds', 'session'].map((kind) => ({ kind, id: '', value: Buffer.from('x') }))
      await keys.save(holdOf('a'), 's', stored)
      const refer = () => instances.put(holdOf('a'), sampleInstance('a', { sessionId: 's' }), {})
      const slow = new InstanceStore(afterEachRead(database, refer))
      await slow.dropOrphans(nodeHold(), 10)
      assert.equal((await keys.load('s', 'creds', [''])).length, 1)
      assert.equal((await keys.load('s', 'session', [''])).length, 1)
    })

    test('a session kept under the name of an account that was linked anew is dropped', async () => {
      await using opened = await newDatabase(engine)
      const instances = await storeWithLease(opened.database)
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      const kept = { sessionId: 's', name: 'a', ownerTag: '', jid: 'j', keptAt: 20, networkProxy: null, linkedAt: null }
      await instances.remove(holdOf('a'), kept, sampleAudit())
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      await instances.dropOrphans(nodeHold(), 10)
      assert.equal((await instances.keptSessions('a')).length, 1, 'not linked yet')
      await instances.update(holdOf('a'), { readyAt: 30 }, {})
      await instances.dropOrphans(nodeHold(), 10)
      assert.equal((await instances.keptSessions('a')).length, 0)
    })

    test('a record is written as a whole, whether it is still there or was removed', async () => {
      await using opened = await newDatabase(engine)
      const instances = await storeWithLease(opened.database)
      const row = { ...blankInstance('a', 1), sessionId: 's', jid: 'j', inboxId: 3 }
      const other = {
        sessionId: 'older',
        name: 'a',
        ownerTag: '',
        jid: 'j',
        keptAt: 10,
        networkProxy: null,
        linkedAt: null,
      }
      await instances.insert(holdOf('a'), row, sampleAudit())
      await instances.remove(holdOf('a'), other, sampleAudit())
      await instances.insert(holdOf('a'), { ...row, sessionId: null }, sampleAudit())
      await instances.remove(holdOf('a'), { ...other, sessionId: 's' }, sampleAudit())
      await instances.put(holdOf('a'), row, {})
      assert.deepEqual(plain(await instances.list()), [row])
      assert.deepEqual(plain(await instances.keptSessions('a')), [other], 'its own session is in use again')
      await instances.put(holdOf('a'), { ...row, jid: 'k', lastError: 'x' }, {})
      assert.deepEqual(plain(await instances.list()), [{ ...row, jid: 'k', lastError: 'x' }])
      await assert.rejects(instances.put(holdOf('a', 2), row, {}), NotHeldError)
    })
  })
}
