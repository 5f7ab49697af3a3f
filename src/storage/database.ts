// The database as the stores see it: typed queries in, rows out, on whichever engine the configuration names.

import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Compilable, Dialect, RawBuilder } from 'kysely'
import { withDeadline } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { DatabaseLocation } from '../lib/setting-formats.ts'
import { PostgresEngine } from './postgres-engine.ts'
import type { Schema } from './schema.ts'
import { SqliteEngine } from './sqlite-engine.ts'
import { StorageError, toStatement } from './statement.ts'
import type { Engine, SecretColumns, Statement } from './statement.ts'

export type EngineName = DatabaseLocation['engine']

// Kysely only builds the SQL here; the engines run it.
const dialects: Record<EngineName, Dialect> = {
  sqlite: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  postgres: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
}

const databaseClocks: Record<EngineName, RawBuilder<number>> = {
  sqlite: sql<number>`CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  postgres: sql<number>`CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`,
}

export class Database {
  readonly engine: EngineName
  /** Builds queries; nothing runs until they are handed to read or write. */
  readonly query: Kysely<Schema>
  /** Epoch milliseconds on the database's own clock, the one all processes share. */
  readonly now: RawBuilder<number>
  readonly #engine: Engine

  constructor(name: EngineName, engine: Engine) {
    this.engine = name
    this.query = new Kysely<Schema>({ dialect: dialects[name] })
    this.now = databaseClocks[name]
    this.#engine = engine
  }

  async read<Output>(query: Compilable<Output>, opens?: SecretColumns): Promise<Output[]> {
    return (await this.#engine.read(toStatement(query), opens)) as Output[]
  }

  /** All steps or none, durable when it resolves; each step's rows (RETURNING) or count of touched rows. */
  async write(...steps: readonly (Compilable | Statement)[]): Promise<number[]> {
    const results = await this.#engine.write(steps.map((step) => ('compile' in step ? toStatement(step) : step)))
    return results.map((result) => result.changes)
  }

  /** Like write for one statement with RETURNING. */
  async writeReturning<Output>(query: Compilable<Output>): Promise<Output[]> {
    const [result] = await this.#engine.write([toStatement(query)])
    return (result?.rows ?? []) as Output[]
  }

  /** Proves that the database takes writes, or rejects after `ms`. */
  async ping(clock: Clock, ms: number): Promise<void> {
    const probe = this.#engine.write([{ sql: 'SELECT 1', parameters: [] }])
    await withDeadline(clock, ms, probe, () => new StorageError('unavailable', `no answer within ${ms} ms`))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]()
  }
}

type Options = {
  location: DatabaseLocation
  encryptionKeys: readonly Uint8Array[]
  log: Log
  /** Told when storage has ended by itself and only a new process can help. */
  onFatal?: (reason: Error) => void
}

export async function openDatabase({
  location,
  encryptionKeys,
  log,
  onFatal = () => undefined,
}: Options): Promise<Database> {
  const engine =
    location.engine === 'sqlite'
      ? await SqliteEngine.open({ path: location.path, encryptionKeys, onFatal })
      : await PostgresEngine.open(location.url, encryptionKeys, log)
  return new Database(location.engine, engine)
}
