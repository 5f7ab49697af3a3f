import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { BackupError } from '../../src/storage/backup/backup-file.ts'
import { makeBackup } from '../../src/storage/backup/make-backup.ts'
import { restoreBackup } from '../../src/storage/backup/restore-backup.ts'
import { openDatabase } from '../../src/storage/database.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrations } from '../../src/storage/migrations/all.ts'
import { versionTable } from '../../src/storage/migrations/migration.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { newLocation } from '../harness/databases.ts'
import { silentLog } from '../harness/logs.ts'
import { sampleInstanceColumns } from '../harness/samples.ts'

const now = 1_800_000_000_000

/** A database that a service has open, and a folder for backups. */
async function setUp() {
  await using stack = new AsyncDisposableStack()
  const { location } = stack.use(await newLocation('sqlite'))
  assert.ok(location.engine === 'sqlite')
  const { path } = location
  const open = () => openDatabase({ location, encryptionKeys: [], log: silentLog })
  const database = await open()
  const epoch = (await new LeaseStore(database).acquire('host pid 7 (ab) at somewhere', 600_000)) ?? 0
  /** Ends the service in order. */
  const stop = async () => {
    await new LeaseStore(database).release('host pid 7 (ab) at somewhere', epoch)
    await database[Symbol.asyncDispose]()
  }
  stack.defer(() => database[Symbol.asyncDispose]())
  const folder = dirname(dirname(path))
  const target = join(folder, 'backup.db')
  const owned = stack.move()
  const shownOwner = (owner: string) => owner.split(' at ')[0] ?? ''
  return {
    ...{ path, folder, target, database, open, stop },
    back: (overwrite = false) => makeBackup({ path, target, overwrite, now }),
    restore: (isCurrent = false, source = target) =>
      restoreBackup({ path, source, isCurrent, now, log: silentLog, shownOwner }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const addInstance = (database: Database, name: string) =>
  database.write(database.query.insertInto('instances').values(sampleInstanceColumns(name)))

const instancesOf = async (database: Database) =>
  (await database.read(database.query.selectFrom('instances').select('name').orderBy('name'))).map(({ name }) => name)

const backupTimeOf = async (database: Database) =>
  (await database.read(database.query.selectFrom('lease').select('backup_at')))[0]?.backup_at

const refusedWith = (sentence: RegExp) => (error: unknown) => {
  assert.ok(error instanceof BackupError, String(error))
  assert.match(error.message, sentence)
  return true
}

test('a backup has what is committed in the WAL, in one private file', async () => {
  await using stage = await setUp()
  await addInstance(stage.database, 'shop')
  assert.ok(statSync(`${stage.path}-wal`).size > 0)
  assert.equal(await stage.back(), statSync(stage.target).size)
  assert.equal(statSync(stage.target).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(stage.folder).sort(), ['backup.db', 'data'])
  using copy = new DatabaseSync(stage.target, { readOnly: true })
  assert.equal(copy.prepare('SELECT name FROM instances').get()?.['name'], 'shop')
  assert.equal(copy.prepare('PRAGMA journal_mode').get()?.['journal_mode'], 'delete')
})

test('a backup is one moment of a database that is written to all the time', async () => {
  await using stage = await setUp()
  const { database, target } = stage
  const over = new AbortController()
  let written = 0
  // Both instances of a pair are written in one commit.
  const writing = (async () => {
    while (!over.signal.aborted) {
      const pair = [`a${written}`, `b${written}`].map((name) => sampleInstanceColumns(name))
      await database.write(database.query.insertInto('instances').values(pair))
      written++
    }
  })()
  for (let round = 0; round < 5; round++) {
    const before = written
    await stage.back(true)
    using copy = new DatabaseSync(target, { readOnly: true })
    const names = copy
      .prepare('SELECT name FROM instances')
      .all()
      .map(({ name }) => String(name))
    const count = (letter: string) => names.filter((name) => name.startsWith(letter)).length
    assert.equal(count('a'), count('b'))
    assert.ok(count('a') >= before, 'everything that was committed before the backup is in it')
  }
  over.abort()
  await writing
})

test('a backup replaces no file, unless it is told to', async () => {
  await using stage = await setUp()
  writeFileSync(stage.target, 'mine')
  await assert.rejects(stage.back(), refusedWith(/backup\.db exists: .*--force/))
  assert.equal(readFileSync(stage.target, 'utf8'), 'mine')
  await stage.back(true)
  assert.notEqual(readFileSync(stage.target, 'utf8'), 'mine')
})

test('a backup never replaces the database itself, also not by a link', async () => {
  await using stage = await setUp()
  symlinkSync(stage.path, stage.target)
  await assert.rejects(stage.back(true), refusedWith(/is the database itself/))
  assert.deepEqual(await instancesOf(stage.database), [])
})

test('a backup says what is in its way', async () => {
  await using stage = await setUp()
  const { path, folder, target } = stage
  const make = (changes: object) => makeBackup({ path, target, overwrite: false, now, ...changes })
  await assert.rejects(make({ path: join(folder, 'none.db') }), refusedWith(/no database at .*none\.db.*DATABASE_URL/))
  await assert.rejects(make({ target: join(folder, 'no', 'x.db') }), refusedWith(/cannot be written to .*ENOENT/))
  const text = join(folder, 'text.db')
  writeFileSync(text, 'no database, but long enough to be read as one '.repeat(20))
  await assert.rejects(make({ path: text }), refusedWith(/text\.db cannot be copied: file is not a database/))
  assert.deepEqual(readdirSync(folder).sort(), ['data', 'text.db'])
})

test('a restored backup is the database, and the one that was there is moved aside', async () => {
  await using stage = await setUp()
  await addInstance(stage.database, 'in the backup')
  await stage.back()
  await addInstance(stage.database, 'later')
  await stage.stop()
  const { movedTo, madeAt } = await stage.restore()
  assert.equal(madeAt, now)
  assert.equal(movedTo, `${stage.path}.before-2027-01-15T08-00-00-000Z`)
  assert.equal(statSync(stage.path).mode & 0o777, 0o600)
  {
    await using restored = await stage.open()
    assert.deepEqual(await instancesOf(restored), ['in the backup'])
    assert.equal(await backupTimeOf(restored), now)
  }
  using aside = new DatabaseSync(movedTo, { readOnly: true })
  assert.equal(aside.prepare('SELECT count(*) AS count FROM instances').get()?.['count'], 2)
  assert.ok(existsSync(stage.target))
})

test('a backup is restored where there is no database', async () => {
  await using stage = await setUp()
  await addInstance(stage.database, 'shop')
  await stage.back()
  const path = join(stage.folder, 'elsewhere', 'deep', 'service.db')
  const options = { path, source: stage.target, isCurrent: false, now, log: silentLog, shownOwner: String }
  assert.equal((await restoreBackup(options)).movedTo, null)
  await using restored = await openDatabase({
    location: { engine: 'sqlite', path },
    encryptionKeys: [],
    log: silentLog,
  })
  assert.deepEqual(await instancesOf(restored), ['shop'])
})

test('a database that a process has open is not replaced', async () => {
  await using stage = await setUp()
  await stage.back()
  await assert.rejects(stage.restore(), refusedWith(/^host pid 7 \(ab\) uses the database: stop the service first$/))
  await addInstance(stage.database, 'goes on')
  assert.deepEqual(readdirSync(dirname(stage.path)).sort(), ['service.db', 'service.db-shm', 'service.db-wal'])
})

test('a database whose lease runs is not replaced', async () => {
  await using stage = await setUp()
  await stage.back()
  const { query } = stage.database
  await stage.database.write(query.updateTable('lease').set({ expires_at: now + 4500 }))
  await stage.database[Symbol.asyncDispose]()
  await assert.rejects(stage.restore(), refusedWith(/the lease of host pid 7 \(ab\) ends in 5 s/))
})

test('a damaged database is moved aside', async () => {
  await using stage = await setUp()
  await stage.back()
  await stage.stop()
  writeFileSync(stage.path, 'damaged '.repeat(1000))
  const { movedTo } = await stage.restore()
  assert.match(readFileSync(movedTo ?? '', 'utf8'), /^damaged/)
  await using restored = await stage.open()
  assert.equal(await backupTimeOf(restored), now)
})

test('only a backup is restored', async () => {
  await using stage = await setUp()
  const { folder, path } = stage
  await stage.stop()
  const text = join(folder, 'text.db')
  writeFileSync(text, 'no database, but long enough to be read as one '.repeat(20))
  const foreign = join(folder, 'foreign.db')
  using other = new DatabaseSync(foreign)
  other.exec('CREATE TABLE things (id INTEGER)')
  const beside = join(folder, 'beside.db')
  for (const end of ['', '-wal']) writeFileSync(beside + end, 'x')
  const refusals: [string, RegExp][] = [
    [text, /text\.db is not a database of this service/],
    [foreign, /foreign\.db is not a database of this service/],
    [beside, /beside\.db is in use, or a copy without its WAL/],
    [join(folder, 'none.db'), /there is no file/],
    [folder, /there is no file/],
    [path, /is the database itself/],
  ]
  for (const [source, sentence] of refusals) {
    await assert.rejects(stage.restore(false, source), refusedWith(sentence))
  }
  assert.deepEqual(readdirSync(dirname(path)), ['service.db'])
})

test('a damaged backup is refused', async () => {
  await using stage = await setUp()
  for (let n = 0; n < 200; n++) await addInstance(stage.database, `n${n}`)
  await stage.back()
  await stage.stop()
  const bytes = readFileSync(stage.target)
  writeFileSync(stage.target, bytes.fill(0x5a, 8 * 4096, 40 * 4096))
  await assert.rejects(stage.restore(), refusedWith(/is damaged|is not a database of this service/))
  assert.deepEqual(readdirSync(dirname(stage.path)), ['service.db'])
})

test('a backup of a stopped service may be taken as current, one of a running service may not', async () => {
  await using stage = await setUp()
  await stage.back()
  await stage.stop()
  await assert.rejects(stage.restore(true), refusedWith(/the service was running when .*restore without --current/))
  await stage.back(true)
  await stage.restore(true)
  await using restored = await stage.open()
  assert.equal(await backupTimeOf(restored), null)
})

test('a backup of an older build keeps its schema, and restoring it notes that it is one', async () => {
  await using stage = await setUp()
  await stage.stop()
  const older = join(stage.folder, 'older.db')
  {
    using database = new DatabaseSync(older)
    database.exec(versionTable)
    for (const { version, name, sqlite } of migrations.filter((each) => each.version < 19)) {
      for (const statement of sqlite) database.exec(statement)
      database.exec(`INSERT INTO schema_version (version, name, applied_at) VALUES (${version}, '${name}', 1)`)
    }
    database.exec("INSERT INTO lease (name, owner, epoch, expires_at) VALUES ('service', 'x', 1, 0)")
  }
  await makeBackup({ path: older, target: stage.target, overwrite: false, now })
  {
    using copy = new DatabaseSync(stage.target, { readOnly: true })
    assert.equal(copy.prepare('SELECT max(version) AS version FROM schema_version').get()?.['version'], 18)
  }
  assert.equal((await stage.restore()).madeAt, null)
  await using restored = await stage.open()
  assert.equal(await backupTimeOf(restored), now)
})
