// One SQLite connection inside a worker: opening, prepared statements, running a statement, translating failures.

import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'
import type { SecretBox } from '../../lib/secret-box.ts'
import { StartError } from '../../lib/start-error.ts'
import { openSecrets, sealSecrets } from './secret-columns.ts'
import type { Row, SecretColumns, Statement, StatementResult } from './statement.ts'

// Older versions can corrupt a WAL database that is checkpointed while another connection writes.
const oldestSqlite = '3.51.3'
const maxPrepared = 500
// How many pages the write-ahead log holds before SQLite copies them into the database. A commit waits for the copy, which takes some
// ten milliseconds on a large database. With more pages it comes less often, and a page that many commits change is copied once.
const pagesPerCheckpoint = 4000

type Prepared = { statement: StatementSync; returnsRows: boolean }

export class SqliteConnection {
  readonly raw: DatabaseSync
  readonly #box: SecretBox
  readonly #prepared = new Map<string, Prepared>()

  constructor(path: string, readOnly: boolean, box: SecretBox) {
    refuseOldSqlite(process.versions.sqlite ?? '0')
    this.#box = box
    this.raw = new DatabaseSync(path, { readOnly, timeout: 5000, enableForeignKeyConstraints: true })
    if (!readOnly) {
      this.raw.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864')
      this.raw.exec(`PRAGMA wal_autocheckpoint = ${pagesPerCheckpoint}`)
    }
  }

  run({ sql, parameters }: Statement): StatementResult {
    const { statement, returnsRows } = this.#prepare(sql)
    const values = sealSecrets(parameters, this.#box)
    if (!returnsRows) return { rows: [], changes: Number(statement.run(...values).changes) }
    const rows = statement.all(...values) as Row[]
    return { rows, changes: rows.length }
  }

  /** Begins or ends a transaction; prepared once, for it comes with every write. */
  control(sql: string): void {
    this.#prepare(sql).statement.run()
  }

  open(rows: Row[], secrets: SecretColumns): Row[] {
    return openSecrets(rows, secrets, this.#box)
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known) return known
    const statement = this.raw.prepare(sql)
    const prepared = { statement, returnsRows: statement.columns().length > 0 }
    const oldest = this.#prepared.keys().next()
    if (this.#prepared.size >= maxPrepared && !oldest.done) this.#prepared.delete(oldest.value)
    this.#prepared.set(sql, prepared)
    return prepared
  }
}

export function refuseOldSqlite(version: string): void {
  if (version.localeCompare(oldestSqlite, 'en', { numeric: true }) >= 0) return
  throw new StartError(`SQLite ${version} is too old (needs ${oldestSqlite}): run on Node 24.21 or newer`)
}
