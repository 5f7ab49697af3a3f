// What only PostgreSQL can do to us: lost connections, locks held by others, collations.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noUsage } from '../../src/core/usage.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { InstanceStore } from '../../src/storage/stores/accounts/instance-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { createPool, transact } from '../../src/storage/engine/postgres-pool.ts'
import { migratePostgres } from '../../src/storage/engine/postgres-migrate.ts'
import { SessionKeyStore } from '../../src/storage/stores/accounts/session-key-store.ts'
import { TenantStore } from '../../src/storage/stores/accounts/tenant-store.ts'
import { UsageStore } from '../../src/storage/stores/ledger/usage-store.ts'
import { CommitCutter } from '../harness/commit-cutter.ts'
import { newDatabase, newLocation, withoutPostgres } from '../harness/databases.ts'
import { RecordedLog, silentLog } from '../harness/logs.ts'
import { Bystander } from '../harness/postgres-bystander.ts'
import { sampleAudit, sampleInstanceColumns, sampleTenant, usageBatch } from '../harness/samples.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { joinedAt, NodeStage } from './harness/node-stage.ts'
import { RowLocker } from './harness/row-locker.ts'

const usageRow = { ...noUsage, instance: 'a', day: '2026-01-01', ownerTag: '', messages_in: 1 }

test(
  'a connection that is lost during a write fails that write and nothing else',
  { skip: withoutPostgres },
  async () => {
    await using opened = await newDatabase('postgres')
    await using bystander = await Bystander.connect(opened.location)
    const tenants = new TenantStore(opened.database)
    await bystander.lock('tenants')
    const write = assert.rejects(tenants.put('acme', sampleTenant, sampleAudit()), {
      name: 'StorageError',
      failure: 'unavailable',
      message: /terminat/,
    })
    const [pid] = await bystander.blocked(1)
    await bystander.query(`SELECT pg_terminate_backend(${pid ?? 0})`)
    await write
    await bystander.unlock()
    await tenants.put('acme', sampleTenant, sampleAudit())
    assert.equal(await tenants.count(), 1)
  },
)

test(
  'the loss of an idle connection is logged without the connection and its password',
  { skip: withoutPostgres },
  async () => {
    await using place = await newLocation('postgres')
    const recorded = new RecordedLog()
    await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: recorded.log })
    await new InstanceStore(database).list()
    await using bystander = await Bystander.connect(place.location)
    await bystander.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'causeway'`,
    )
    const lost = () => recorded.withMessage('an idle database connection was lost')
    await waitUntil('the loss is logged', () => lost().length > 0)
    const line = lost()[0] ?? {}
    assert.deepEqual(Object.keys(line).sort(), ['code', 'level', 'msg', 'reason', 'time'])
    assert.equal(line['code'], '57P01')
    assert.deepEqual(await new InstanceStore(database).list(), [])
  },
)

test('a write that failed for a lock is not made later', { skip: withoutPostgres }, async () => {
  await using opened = await newDatabase('postgres')
  await using bystander = await Bystander.connect(opened.location)
  const usage = new UsageStore(opened.database)
  await bystander.lock('usage')
  await assert.rejects(usage.add(usageBatch([usageRow])), { failure: 'unavailable' })
  await bystander.unlock()
  await usage.add(usageBatch([usageRow]))
  // A write that still waited for the lock would have come before this one.
  assert.equal((await usage.totals()).messages_in, 1)
})

test('of two writes that wait for each other, one is undone and made again', { skip: withoutPostgres }, async () => {
  await using opened = await newDatabase('postgres')
  const { database, location } = opened
  await using bystander = await Bystander.connect(location)
  const usage = new UsageStore(database)
  for (const instance of ['a', 'b']) await usage.add(usageBatch([{ ...usageRow, instance }]))
  const wait = { sql: 'SELECT 1 FROM first_callbacks', parameters: [] }
  const count = (instance: string) => ({
    sql: 'UPDATE usage SET messages_in = messages_in + 1 WHERE instance = $1',
    parameters: [instance],
  })
  await bystander.lock('first_callbacks')
  const written = [database.write(count('a'), wait, count('b')), database.write(count('b'), wait, count('a'))]
  await bystander.blocked(2)
  await bystander.unlock()
  await Promise.all(written)
  assert.equal((await usage.totals()).messages_in, 6)
})

test('lease and ping answer while every connection for requests is busy', { skip: withoutPostgres }, async () => {
  await using opened = await newDatabase('postgres')
  const { database, location } = opened
  await using bystander = await Bystander.connect(location)
  const leases = new LeaseStore(database)
  await leases.acquire('me', 60_000)
  await bystander.lock('usage')
  const usage = new UsageStore(database)
  const stuck = Promise.allSettled(Array.from({ length: 12 }, () => usage.add(usageBatch([usageRow]))))
  await bystander.blocked(10)
  assert.equal(await leases.renew('me', 1, 60_000), true)
  await database.ping(systemClock, 2000)
  assert.equal((await bystander.blocked(10)).length, 10, 'the others still wait')
  await bystander.unlock()
  await stuck
})

test(
  'no node takes over between the check of the hold and the commit, and the owner goes on beating',
  { skip: withoutPostgres },
  async () => {
    await using stage = await NodeStage.open('me', 'other')
    const { database, bystander, nodes, assignments } = stage
    const keys = new SessionKeyStore(database)
    const hold = await stage.create('a', 'me')
    await bystander.lock('session_keys')
    const saved = keys.save(hold, 's', [{ kind: 'session', id: 'a', value: Buffer.from('x') }])
    await bystander.blocked(1)
    assert.equal((await nodes.beat('me')).mine, 1)
    const placement = { instance: 'a', node: 'other' }
    assert.equal(await nodes.bury(await stage.seen('me'), [placement], joinedAt), true)
    assert.equal((await assignments.place([placement], joinedAt)).length, 0, 'the row of the instance is locked')
    await bystander.unlock()
    await saved
    assert.equal((await assignments.place([placement], joinedAt)).length, 1)
    await assert.rejects(keys.save(hold, 's', []), { failure: 'expectation' })
  },
)

test('the lease is not taken while a write of an earlier build is under way', { skip: withoutPostgres }, async () => {
  await using opened = await newDatabase('postgres')
  const { database, location } = opened
  await using locker = await RowLocker.connect(location)
  const leases = new LeaseStore(database)
  await leases.acquire('earlier build', 0)
  // The fence of those builds.
  await locker.hold('SELECT epoch FROM lease WHERE epoch = 1 FOR KEY SHARE')
  await assert.rejects(leases.retire(), { failure: 'unavailable' })
  assert.equal(await leases.renew('earlier build', 1, 0), true)
  await locker.release()
  assert.equal(await leases.retire(), 2)
})

test(
  'the database undoes a transaction whose process stands still, and the write is known not to be made',
  { skip: withoutPostgres },
  async () => {
    await using place = await newLocation('postgres')
    await using relay = await CommitCutter.to(place.url)
    await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
    const pool = createPool(relay.url, { connections: 1, deadlineMs: 30_000 }, silentLog)
    const limit = await pool.query('SHOW idle_in_transaction_session_timeout')
    assert.deepEqual(
      limit.rows,
      [{ idle_in_transaction_session_timeout: '1500ms' }],
      'long before the lease of 5 s is over',
    )
    relay.holdAt = 'INSERT INTO destinations'
    await assert.rejects(transact(pool, [heard('a'), { sql: 'INSERT INTO destinations DEFAULT VALUES', values: [] }]), {
      name: 'StorageError',
      failure: 'undone',
    })
    assert.deepEqual(await database.read(database.query.selectFrom('first_callbacks').selectAll()), [])
    await pool.end()
  },
)

test(
  'the commit leaves with the first statement; when it is held back, the database undoes the write and it is made again',
  { skip: withoutPostgres },
  async () => {
    await using place = await newLocation('postgres')
    await using relay = await CommitCutter.to(place.url)
    const location = { engine: 'postgres', url: relay.url } as const
    await using database = await openDatabase({ location, encryptionKeys: [], log: silentLog })
    await using bystander = await Bystander.connect(place.location)
    await bystander.lock('first_callbacks')
    relay.holdAt = 'COMMIT'
    const [first, second] = [heard('a'), heard('b')].map(({ sql, values }) => ({ sql, parameters: values }))
    assert.ok(first && second)
    const written = database.write(first, second)
    await bystander.blocked(1)
    await waitUntil('the commit was sent while the first statement waits', () => relay.holdAt === undefined)
    await bystander.unlock()
    await written
    assert.equal((await database.read(database.query.selectFrom('first_callbacks').selectAll())).length, 2)
  },
)

test(
  'an operation with a value that cannot be sent is undone, and the connection is used again',
  { skip: withoutPostgres },
  async () => {
    await using opened = await newDatabase('postgres')
    const { database } = opened
    const unsendable = { toPostgres: () => assert.fail('this value has no form on the wire') }
    const bad = { sql: 'SELECT $1', parameters: [unsendable as never] }
    const insert = database.query.insertInto('instances').values(sampleInstanceColumns('a'))
    await assert.rejects(database.write(insert, bad), { failure: 'unavailable', message: /no form on the wire/ })
    assert.deepEqual(await new InstanceStore(database).list(), [])
    await database.write(insert, { sql: 'SELECT 1', parameters: [] })
    assert.equal((await new InstanceStore(database).list()).length, 1)
  },
)

test(
  'the server refuses an unexpected number of rows for every kind of statement',
  { skip: withoutPostgres },
  async () => {
    await using opened = await newDatabase('postgres')
    const { database } = opened
    const along = database.query.insertInto('instances').values(sampleInstanceColumns('a'))
    const { sql: insert } = heard('a')
    const statements = [
      `SELECT 1 FROM first_callbacks`,
      `UPDATE first_callbacks SET heard_at = 2`,
      `DELETE FROM first_callbacks RETURNING destination`,
      `${insert} ON CONFLICT DO NOTHING`,
    ]
    for (const sql of statements) {
      for (const expect of [0, 1, 2]) {
        await database.write({ sql: 'DELETE FROM first_callbacks', parameters: [] })
        await database.write({ sql: insert, parameters: [] })
        const touches = sql.startsWith('INSERT') ? 0 : 1
        const write = database.write(along, { sql, parameters: [], expect })
        if (expect === touches) assert.deepEqual(await write, [1, expect], sql)
        else
          await assert.rejects(
            write,
            { failure: 'expectation', message: `expected ${expect} rows, touched ${touches}` },
            sql,
          )
        const made = expect === touches ? 1 : 0
        assert.deepEqual(
          await database.write({ sql: 'DELETE FROM instances', parameters: [] }),
          [made],
          `${sql} ${expect}`,
        )
      }
    }
  },
)

test('lists are in byte order with every collation of the database', { skip: withoutPostgres }, async () => {
  await using opened = await newDatabase('postgres')
  const { database, location } = opened
  await using bystander = await Bystander.connect(location)
  await bystander.query('ALTER TABLE tenants ALTER COLUMN owner_tag TYPE TEXT COLLATE "en-x-icu"')
  await bystander.query('ALTER TABLE usage ALTER COLUMN owner_tag TYPE TEXT COLLATE "en-x-icu"')
  await bystander.query('ALTER TABLE usage ALTER COLUMN instance TYPE TEXT COLLATE "en-x-icu"')
  const names = ['a', 'B', '_', 'b', 'A']
  const ordered = ['A', 'B', '_', 'a', 'b']
  const tenants = new TenantStore(database)
  for (const name of names) await tenants.put(name, sampleTenant, sampleAudit())
  assert.deepEqual(
    (await tenants.list()).map(({ ownerTag }) => ownerTag),
    ordered,
  )
  const usage = new UsageStore(database)
  await usage.add(usageBatch(names.map((name) => ({ ...usageRow, instance: name, ownerTag: name }))))
  const days = await usage.daily({ from: '2026-01-01', to: '2026-01-01' })
  assert.deepEqual(
    days.map(({ instance }) => instance),
    ordered,
  )
  const months = await usage.monthly({ from: '2026-01', to: '2026-01' })
  assert.deepEqual(
    months.map(({ owner_tag }) => owner_tag),
    ordered,
  )
})

test('a damaged secret is a failure of the value, not of the database', { skip: withoutPostgres }, async () => {
  await using opened = await newDatabase('postgres', [Buffer.alloc(32, 1)])
  const tenants = new TenantStore(opened.database)
  await tenants.put('acme', sampleTenant, sampleAudit())
  await opened.database.write({ sql: `UPDATE tenants SET downstream_api_token = '\\x0102'`, parameters: [] })
  await assert.rejects(tenants.findWithSecrets('acme'), { failure: 'failed', message: /damaged secret/ })
})

test(
  'a bad statement inside an operation says what was wrong, and the connection is used again',
  { skip: withoutPostgres },
  async () => {
    await using opened = await newDatabase('postgres')
    const { database } = opened
    const insert = database.query.insertInto('instances').values(sampleInstanceColumns('a'))
    const bad = { sql: 'SELECT nonsense FROM nowhere', parameters: [] }
    await assert.rejects(database.write(insert, bad), { failure: 'failed', message: /nowhere/ })
    assert.deepEqual(await new InstanceStore(database).list(), [])
  },
)

test('a migration has no deadline but for locks, even if the server sets one', { skip: withoutPostgres }, async () => {
  await using place = await newLocation('postgres')
  await using bystander = await Bystander.connect(place.location)
  await bystander.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 1000', current_database()); END $$`,
  )
  const postgres = [
    `CREATE TABLE seen AS SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
       current_setting('idle_in_transaction_session_timeout') AS idle`,
  ]
  const known = [{ version: 1, name: 'one', besides: true, sqlite: [], postgres }]
  await migratePostgres(place.url, known, { log: silentLog })
  assert.deepEqual(await bystander.query('SELECT * FROM seen'), [{ statement: '0', lock: '2s', idle: '1min' }])
})

function heard(destination: string) {
  const sql = `INSERT INTO first_callbacks (destination, heard_at) VALUES ('${destination}', 1)`
  return { sql, values: [] }
}
