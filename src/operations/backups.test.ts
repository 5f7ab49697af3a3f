import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migratedLocation } from '../../test/harness/databases.ts'
import { silentLog } from '../../test/harness/logs.ts'
import { waitUntil } from '../../test/harness/wait-until.ts'
import type { AuditRecord } from '../core/audit.ts'
import { BridgeError } from '../core/errors.ts'
import { systemClock } from '../lib/clock.ts'
import { openDatabase } from '../storage/database.ts'
import { BackupFolder } from './backup-folder.ts'
import { Backups } from './backups.ts'

async function setUp(audit: (record: AuditRecord) => Promise<void> = () => Promise.resolve()) {
  await using stack = new AsyncDisposableStack()
  const { location } = stack.use(await migratedLocation('sqlite'))
  assert.ok(location.engine === 'sqlite')
  await (await openDatabase({ location, encryptionKeys: [], log: silentLog }))[Symbol.asyncDispose]()
  const freeBytes = () => Promise.resolve(Infinity)
  const backups = stack.use(new Backups({ location, freeBytes, audit, clock: systemClock, log: silentLog }))
  const { path: folder } = new BackupFolder(location.path)
  const owned = stack.move()
  return { path: location.path, folder, backups, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** So large that a copy takes some time. */
function fill(path: string): void {
  using database = new DatabaseSync(path)
  database.exec('CREATE TABLE padding (bytes BLOB); INSERT INTO padding VALUES (zeroblob(200000000))')
}

test('a backup under way when the service stops is given up, and leaves no half file', async () => {
  await using stage = await setUp()
  const { path, folder, backups } = stage
  fill(path)
  assert.equal(backups.makingSince, null)
  const askedAt = Date.now()
  const making = backups.make('api')
  // Callers who did not wait for the end see that it is under way.
  assert.ok(Number(backups.makingSince) >= askedAt)
  const refused = assert.rejects(making, /the backup was stopped: try again/)
  const names = () => (readdirSync(path.slice(0, path.lastIndexOf('/'))).includes('backups') ? readdirSync(folder) : [])
  await waitUntil('the copy has begun', () => names().some((name) => name.endsWith('.part')))
  await backups[Symbol.asyncDispose]()
  await refused
  assert.equal(backups.makingSince, null)
  assert.deepEqual(names(), [])
})

test('a backup that the audit log does not take is not made', async () => {
  const storageAway = new BridgeError('SERVICE_STORAGE_FAILED', 'the database did not take the request')
  await using stage = await setUp(() => Promise.reject(storageAway))
  await assert.rejects(stage.backups.make('dashboard'), storageAway)
  assert.deepEqual(readdirSync(stage.folder), [])
})

test('a database without an extension has backups too', () => {
  const folder = new BackupFolder('/data/service')
  assert.equal(folder.fileOf(Date.parse('2026-01-15T12:00:00.000Z')), '/data/backups/service-2026-01-15T12-00-00-000Z')
})
