import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openDatabase } from '../../src/storage/database.ts'
import type { Database } from '../../src/storage/database.ts'
import { InstanceStore } from '../../src/storage/stores/accounts/instance-store.ts'
import { toStatement } from '../../src/storage/engine/statement.ts'
import type { StorageError } from '../../src/storage/engine/statement.ts'
import { TenantStore } from '../../src/storage/stores/accounts/tenant-store.ts'
import { engines, newDatabase, newLocation } from '../harness/databases.ts'
import { silentLog } from '../harness/logs.ts'
import { sampleAudit, sampleInstanceColumns, sampleTenant } from '../harness/samples.ts'

const oldKey = Buffer.alloc(32, 1)

const insertStep = (database: Database, name: string) =>
  database.query.insertInto('instances').values(sampleInstanceColumns(name))

const names = async (database: Database) => (await new InstanceStore(database).list()).map(({ name }) => name)

for (const engine of engines) {
  describe(`database on ${engine}`, () => {
    test('an operation whose later step fails leaves nothing of its earlier ones', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      await database.write(insertStep(database, 'taken'))
      await assert.rejects(database.write(insertStep(database, 'new'), insertStep(database, 'taken')), {
        failure: 'constraint',
      })
      assert.deepEqual(await names(database), ['taken'])
    })

    test('an operation that changes an unexpected number of rows is undone', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      const nobody = toStatement(database.query.deleteFrom('instances').where('name', '=', 'nobody'), 1)
      await assert.rejects(database.write(insertStep(database, 'new'), nobody), { failure: 'expectation' })
      assert.deepEqual(await names(database), [])
    })

    test('an operation of one step that changes an unexpected number of rows is undone', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      await assert.rejects(database.write(toStatement(insertStep(database, 'new'), 2)), { failure: 'expectation' })
      assert.deepEqual(await names(database), [])
    })

    test('a failing operation does not hurt those that are committed together with it', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      await database.write(insertStep(database, 'taken'))
      const outcomes = await Promise.allSettled(
        ['a', 'taken', 'b', 'taken', 'c'].map((name) => database.write(insertStep(database, name))),
      )
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
      )
      assert.deepEqual(await names(database), ['a', 'b', 'c', 'taken'])
    })

    test('a refused operation leaves none of its steps among the operations that are committed together with it', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      await database.write(insertStep(database, 'taken'))
      const nothing = toStatement(database.query.deleteFrom('instances').where('name', '=', 'missing'), 1)
      const outcomes = await Promise.allSettled([
        database.write(insertStep(database, 'a')),
        database.write(insertStep(database, 'half'), insertStep(database, 'taken')),
        database.write(insertStep(database, 'b'), insertStep(database, 'c')),
        database.write(insertStep(database, 'half'), nothing),
        database.write(insertStep(database, 'd')),
      ])
      assert.deepEqual(
        outcomes.map((outcome) =>
          outcome.status === 'rejected' ? (outcome.reason as StorageError).failure : 'stored',
        ),
        ['stored', 'constraint', 'stored', 'expectation', 'stored'],
      )
      assert.deepEqual(await names(database), ['a', 'b', 'c', 'd', 'taken'])
    })

    test('a value that cannot be stored is refused without hurting what is committed together with it', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      const odd = {
        sql: `INSERT INTO instances (name, state, created_at) VALUES ('odd', 'ready', ?)`.replace(
          '?',
          engine === 'sqlite' ? '?' : '$1',
        ),
        parameters: [(() => 1) as never],
      }
      const outcomes = await Promise.allSettled([
        database.write(insertStep(database, 'a')),
        database.write(odd),
        database.write(insertStep(database, 'b')),
      ])
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      assert.deepEqual(await names(database), ['a', 'b'])
    })

    test('a written row is there for the next process', async () => {
      await using place = await newLocation(engine)
      const open = () => openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
      {
        await using database = await open()
        await database.write(insertStep(database, 'kept'))
      }
      await using database = await open()
      assert.deepEqual(await names(database), ['kept'])
    })

    test('several processes that migrate at once all end with a working database', async () => {
      await using place = await newLocation(engine)
      const open = () => openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
      const databases = await Promise.all(Array.from({ length: 4 }, open))
      await using stack = new AsyncDisposableStack()
      for (const [index, database] of databases.entries()) {
        stack.use(database)
        await database.write(insertStep(database, `from-${index}`))
      }
      assert.equal((await names(databases[0] as Database)).length, 4)
    })

    test('a database newer than this build is refused and left alone', async () => {
      await using place = await newLocation(engine)
      const open = () => openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
      {
        await using database = await open()
        await database.write(insertStep(database, 'kept'), {
          sql: `INSERT INTO schema_version (version, name, applied_at) VALUES (9999, 'future', 0)`,
          parameters: [],
        })
      }
      await assert.rejects(open(), /schema version 9999 .* newer build/)
    })

    test('bytes and long texts come back as they were', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      const text = `${'x'.repeat(100_000)} · 🌉 "';--`
      await database.write(
        database.query.insertInto('instances').values(sampleInstanceColumns('a', { lastError: text })),
      )
      assert.equal((await new InstanceStore(database).list())[0]?.lastError, text)
    })

    test('a secret is not on disk in plain when there is a key, and is when there is none', async () => {
      for (const keys of [[oldKey], []]) {
        await using opened = await newDatabase(engine, keys)
        const { database } = opened
        await new TenantStore(database).put('acme', sampleTenant, sampleAudit())
        const [row] = await database.read(database.query.selectFrom('tenants').select('downstream_api_token'))
        const stored = Buffer.from(row?.downstream_api_token ?? []).toString('latin1')
        assert.equal(stored.includes(sampleTenant.apiToken), keys.length === 0)
      }
    })

    test('a sealed value copied to another row does not open there', async () => {
      await using opened = await newDatabase(engine, [oldKey])
      const { database } = opened
      const tenants = new TenantStore(database)
      await tenants.put('victim', sampleTenant, sampleAudit())
      await tenants.put('thief', { ...sampleTenant, apiToken: 'other' }, sampleAudit())
      await database.write({
        sql: `UPDATE tenants SET downstream_api_token =
          (SELECT downstream_api_token FROM tenants WHERE owner_tag = 'victim') WHERE owner_tag = 'thief'`,
        parameters: [],
      })
      await assert.rejects(tenants.findWithSecrets('thief'), /damaged secret at tenants\|thief/)
    })

    test('a closed database refuses instead of hanging', async () => {
      const opened = await newDatabase(engine)
      await opened[Symbol.asyncDispose]()
      await assert.rejects(opened.database.write(insertStep(opened.database, 'late')))
      await assert.rejects(names(opened.database))
    })
  })
}
