// Starts one PostgreSQL for the whole test run and stops it at the end, unless TEST_POSTGRES_URL names one or TEST_ENGINES
// leaves PostgreSQL out. Gives all processes of the run one place for compiled modules, and one migrated database of each engine
// to copy.

import { fileURLToPath } from 'node:url'
import { openDatabase } from '../../src/storage/database.ts'
import type { EngineName } from '../../src/storage/database.ts'
import { withoutBrowser } from './browser.ts'
import { engines, newLocation, templates } from './databases.ts'
import { silentLog } from './logs.ts'
import { PostgresServer } from './postgres-server.ts'

const owned = new AsyncDisposableStack()

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
  process.env['TEST_POSTGRES_URL'] = owned.use(await PostgresServer.start()).url
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
