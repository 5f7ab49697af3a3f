// The database as the stores see it: typed queries in, rows out, on the engine that the configuration names.

import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
} from 'kysely'
import type { Compilable, Dialect, OrderByItemBuilder, RawBuilder } from 'kysely'
import { withDeadline } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { DatabaseLocation } from '../core/database-location.ts'
import { PostgresEngine } from './engine/postgres-engine.ts'
import type { Schema } from './schema.ts'
import { SqliteCompiler } from './sqlite-compiler.ts'
import { SqliteEngine } from './engine/sqlite-engine.ts'
import { StorageError, toStatement } from './engine/statement.ts'
import type { Engine, SecretColumns, Statement } from './engine/statement.ts'

export type EngineName = DatabaseLocation['engine']

// Kysely only builds the SQL here; the engines run it.
const dialects: Record<EngineName, Dialect> = {
  sqlite: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteCompiler(),
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

// Byte order is what SQLite uses by default.
const collations: Record<EngineName, string> = { sqlite: 'BINARY', postgres: 'C' }

type Step = Compilable | Statement
type Returning<Output> = readonly [...Step[], Compilable<Output> | Statement]

export class Database {
  readonly engine: EngineName
  /** Builds queries; nothing runs until they are handed to read or write. */
  readonly query: Kysely<Schema>
  /** Epoch milliseconds on the database's own clock, the one all processes share. */
  readonly now: RawBuilder<number>
  /** The same data over other connections with short deadlines: for the lease and for health, which must not wait. */
  readonly vital: Database
  /** The same data. Its writes may wait a moment for others and share their commit; undefined where writes share no commit. */
  readonly patient: Database | undefined
  readonly #engine: Engine
  #probe: Promise<unknown> | undefined

  constructor(name: EngineName, engine: Engine, vital?: Engine) {
    this.engine = name
    this.query = new Kysely<Schema>({ dialect: dialects[name] })
    this.now = databaseClocks[name]
    this.vital = vital ? new Database(name, vital) : this
    this.patient = patientOf(name, engine)
    this.#engine = engine
  }

  /** Sorts texts by their bytes, independent of the collation of the database. */
  inByteOrder(order: OrderByItemBuilder): OrderByItemBuilder {
    return order.collate(collations[this.engine])
  }

  async read<Output>(query: Compilable<Output>, opens?: SecretColumns): Promise<Output[]> {
    return (await this.#engine.read(toStatement(query), opens)) as Output[]
  }

  /** All steps or none, durable when it resolves. Returns how many rows each step touched. */
  async write(...steps: readonly Step[]): Promise<number[]> {
    const results = await this.#engine.write(steps.map(compiled))
    return results.map((result) => result.changes)
  }

  /** Like write, with the rows of the last step, which has a RETURNING. */
  async writeReturning<Output>(...steps: Returning<Output>): Promise<Output[]> {
    const { rows } = await this.writeCounting(...steps)
    return rows
  }

  /** Like writeReturning, with how many rows each step touched. */
  async writeCounting<Output>(...steps: Returning<Output>): Promise<{ touched: number[]; rows: Output[] }> {
    const results = await this.#engine.write(steps.map(compiled))
    return { touched: results.map(({ changes }) => changes), rows: (results.at(-1)?.rows ?? []) as Output[] }
  }

  /** Resolves when the database answers (SQLite: gives us its write lock), or rejects after `ms`. */
  async ping(clock: Clock, ms: number): Promise<void> {
    const late = () => new StorageError('unavailable', `no answer within ${ms} ms`)
    await withDeadline(clock, ms, this.vital.#ask(), late)
  }

  // Callers share one question.
  #ask(): Promise<unknown> {
    this.#probe ??= this.#engine.write([{ sql: 'SELECT 1', parameters: [] }]).finally(() => {
      this.#probe = undefined
    })
    return this.#probe
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.vital !== this) await this.vital[Symbol.asyncDispose]()
    await this.#engine[Symbol.asyncDispose]()
  }
}

type Options = {
  location: DatabaseLocation
  encryptionKeys: readonly Uint8Array[]
  log: Log
  /** Called when storage has ended by itself and only a new process can help. */
  onFatal?: (reason: Error) => void
  /** How many connections to PostgreSQL serve requests. */
  connections?: number
  /** Ends the wait for a PostgreSQL that does not answer. */
  signal?: AbortSignal
}

export async function openDatabase({
  location,
  encryptionKeys,
  log,
  onFatal = () => undefined,
  connections,
  signal,
}: Options): Promise<Database> {
  if (location.engine === 'sqlite') {
    return new Database('sqlite', await SqliteEngine.open({ path: location.path, encryptionKeys, onFatal }))
  }
  const { engine, vital } = await PostgresEngine.open({ url: location.url, encryptionKeys, log, connections, signal })
  return new Database('postgres', engine, vital)
}

function patientOf(name: EngineName, engine: Engine): Database | undefined {
  if (!engine.writeSoon) return undefined
  return new Database(name, {
    write: (statements) => engine.writeSoon?.(statements) ?? engine.write(statements),
    read: (statement, opens) => engine.read(statement, opens),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  })
}

function compiled(step: Step): Statement {
  return 'compile' in step ? toStatement(step) : step
}
