// A copy of a database that an earlier release wrote, ready to be opened by the service of today.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { dirname } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import type { EngineName } from '../../src/storage/database.ts'
import { migrations } from '../../src/storage/migrations/all.ts'
import { newLocation } from './databases.ts'
import type { TestLocation } from './databases.ts'

/** What the encrypted file is encrypted with. */
export const releaseKey = Buffer.from('release 0.65.0 key of 32 bytes!!').toString('base64')

export type ReleaseFile = 'plain' | 'encrypted'

/** The address of the helpdesk that the release delivered to. */
const releaseHelpdesk = 'http://127.0.0.1:34399'

type ReleaseOptions = {
  /** The address at which the helpdesk of the release is now. Without it the service finds another helpdesk. */
  helpdeskUrl?: string | undefined
}

/** On PostgreSQL the rows of the SQLite file stand in the tables that the release made there. */
export async function releaseDatabase(
  engine: EngineName,
  file: ReleaseFile,
  { helpdeskUrl }: ReleaseOptions = {},
): Promise<TestLocation> {
  const bytes = gunzipSync(await readFile(new URL(`../fixtures/release-0.65.0/${file}.db.gz`, import.meta.url)))
  const place = await newLocation(engine)
  await using source = engine === 'sqlite' ? undefined : await newLocation('sqlite')
  const { location } = source ?? place
  if (location.engine !== 'sqlite') throw new Error('a file is expected')
  await mkdir(dirname(location.path), { recursive: true })
  await writeFile(location.path, bytes)
  using rows = new DatabaseSync(location.path)
  if (helpdeskUrl !== undefined) moveHelpdesk(rows, helpdeskUrl)
  if (source) await copyRows(rows, place.url)
  return place
}

function moveHelpdesk(rows: DatabaseSync, to: string): void {
  const tables = rows.prepare(
    `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'destination'`,
  )
  for (const { name } of tables.all() as { name: string }[]) {
    rows.prepare(`UPDATE ${name} SET destination = replace(destination, ?, ?)`).run(releaseHelpdesk, to)
  }
}

async function copyRows(source: DatabaseSync, url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { newest } = source.prepare('SELECT max(version) AS newest FROM schema_version').get() as { newest: number }
    await client.query(
      'CREATE TABLE schema_version (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)',
    )
    for (const { version, postgres } of migrations) {
      if (version <= newest) for (const statement of postgres) await client.query(statement)
    }
    const tables = source
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all()
    for (const { name } of tables as { name: string }[]) await copyTable(source, client, name)
    await client.query(`SELECT setval(pg_get_serial_sequence('audit', 'id'), (SELECT max(id) FROM audit))`)
  } finally {
    await client.end()
  }
}

async function copyTable(source: DatabaseSync, client: pg.Client, table: string): Promise<void> {
  // A migration fills some tables. The audit log is not one of them, and refuses to be emptied.
  if (table !== 'audit') await client.query(`DELETE FROM ${table}`)
  for (const row of source.prepare(`SELECT * FROM ${table}`).all()) {
    const columns = Object.keys(row)
    const values = Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value))
    const places = columns.map((_, index) => `$${index + 1}`)
    await client.query(
      `INSERT INTO ${table} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE VALUES (${places.join(', ')})`,
      values,
    )
  }
}
