// Records the statements that every call of every store, and what a start and the workers of a node read, hand to the engine.

import type { DatabaseLocation } from '../../../src/core/database-location.ts'
import { Database } from '../../../src/storage/database.ts'
import { PostgresEngine } from '../../../src/storage/engine/postgres-engine.ts'
import { SqliteEngine } from '../../../src/storage/engine/sqlite-engine.ts'
import type { Engine, Row, SecretColumns, Statement, StatementResult } from '../../../src/storage/engine/statement.ts'
import { ignoreRejection } from '../../../src/lib/ignore.ts'
import { withHolds } from '../../harness/lease-holds.ts'
import { silentLog } from '../../harness/logs.ts'
import { openStores } from './all-stores.ts'
import { nodeReadsOn } from './node-reads.ts'
import { callsOn } from './store-calls.ts'

class Recorder implements Engine {
  readonly #engine: Engine
  statements: string[] = []

  constructor(engine: Engine) {
    this.#engine = engine
  }

  write(statements: readonly Statement[]): Promise<StatementResult[]> {
    this.statements.push(...statements.map(({ sql }) => sql))
    return this.#engine.write(statements)
  }

  read(statement: Statement, opens?: SecretColumns): Promise<Row[]> {
    this.statements.push(statement.sql)
    return this.#engine.read(statement, opens)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#engine[Symbol.asyncDispose]()
  }
}

/** The statements by the name of the call. A statement that a guard refuses is recorded, too. */
export async function recordStatements(location: DatabaseLocation): Promise<Map<string, string[]>> {
  const recorder = new Recorder(await openEngine(location))
  await using database = new Database(location.engine, recorder)
  const stores = await openStores(database)
  const recorded = new Map<string, string[]>()
  const record = async (name: string, run: () => Promise<unknown>) => {
    recorder.statements = []
    await run().catch(ignoreRejection)
    recorded.set(name, [...new Set(recorder.statements)])
  }
  for (const [name, { given, run }] of callsOn(location.engine)) {
    await given?.(stores, name)
    await record(name, () => run(stores, name))
  }
  for (const [name, read] of nodeReadsOn(location.engine)) await record(name, () => read(stores))
  return recorded
}

async function openEngine(location: DatabaseLocation): Promise<Engine> {
  if (location.engine === 'sqlite') {
    return SqliteEngine.open({ path: location.path, encryptionKeys: [], onFatal: () => undefined })
  }
  const { engine, vital } = await PostgresEngine.open({ url: location.url, encryptionKeys: [], log: silentLog })
  await vital[Symbol.asyncDispose]()
  return withHolds(engine)
}
