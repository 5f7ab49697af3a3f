// A fresh database per test, on either engine, gone when the test is over.

import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import type { Database, EngineName } from '../../src/storage/database.ts'
import type { DatabaseLocation } from '../../src/core/database-location.ts'
import { openOwnDatabase } from './lease-holds.ts'

/** The variables that name the migrated SQLite file and the migrated PostgreSQL database of this run. */
export const templates = { sqlite: 'TEST_SQLITE_TEMPLATE', postgres: 'TEST_POSTGRES_TEMPLATE' } as const

/** The engines of this run: both, or those that TEST_ENGINES names. */
export const engines: readonly EngineName[] = chosenEngines(process.env['TEST_ENGINES'])

/** The `skip` option of a test that needs PostgreSQL. */
export const withoutPostgres = engines.includes('postgres') ? false : 'TEST_ENGINES leaves PostgreSQL out'

export type TestLocation = { location: DatabaseLocation; url: string; [Symbol.asyncDispose](): Promise<void> }

/** A place without tables: for tests of the migrations and of a first start. */
export async function newLocation(engine: EngineName): Promise<TestLocation> {
  return engine === 'sqlite' ? newSqliteFile() : newPostgresDatabase()
}

/**
 * A place with the newest tables. A single test file may run without the setup of a whole run, or without templates. Then the
 * place is empty, and opening the database migrates it.
 */
export async function migratedLocation(engine: EngineName): Promise<TestLocation> {
  const template = process.env[templates[engine]]
  if (!template) return newLocation(engine)
  return engine === 'sqlite' ? newSqliteFile(template) : newPostgresDatabase(template)
}

export async function newDatabase(
  engine: EngineName,
  encryptionKeys: readonly Uint8Array[] = [],
): Promise<{ database: Database; location: DatabaseLocation; [Symbol.asyncDispose](): Promise<void> }> {
  await using stack = new AsyncDisposableStack()
  const { location } = stack.use(await migratedLocation(engine))
  const database = stack.use(await openOwnDatabase(location, encryptionKeys))
  const owned = stack.move()
  return { database, location, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function chosenEngines(names: string | undefined): EngineName[] {
  const known: EngineName[] = ['sqlite', 'postgres']
  if (!names) return known
  const chosen = known.filter((engine) => names.split(',').includes(engine))
  if (chosen.length !== names.split(',').length)
    throw new Error(`TEST_ENGINES names sqlite or postgres, not "${names}"`)
  return chosen
}

async function newSqliteFile(template?: string): Promise<TestLocation> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-'))
  const path = join(directory, 'data', 'service.db')
  if (template !== undefined) {
    await mkdir(dirname(path), { recursive: true })
    await copyFile(template, path)
  }
  return {
    location: { engine: 'sqlite', path },
    url: `file:${path}`,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

async function newPostgresDatabase(template = 'template1'): Promise<TestLocation> {
  const name = `causeway_${randomBytes(8).toString('hex')}`
  // Copying the files takes half of the time that writing their pages to the log takes.
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  const url = new URL(serverUrl())
  url.pathname = `/${name}`
  return {
    location: { engine: 'postgres', url: url.href },
    url: url.href,
    [Symbol.asyncDispose]: () => onServer(`DROP DATABASE ${name} WITH (FORCE)`),
  }
}

function serverUrl(): string {
  const url = process.env['TEST_POSTGRES_URL']
  if (!url)
    throw new Error(
      'TEST_POSTGRES_URL is not set: run through npm test, which starts a PostgreSQL unless TEST_ENGINES leaves it out',
    )
  return url
}

export async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl() })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
