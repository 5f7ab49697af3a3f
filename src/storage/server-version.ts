// Asks the database which version it is.

import { sql } from 'kysely'
import type { Database } from './database.ts'

const questions = {
  sqlite: sql<string>`sqlite_version()`,
  postgres: sql<string>`current_setting('server_version')`,
}

export async function readServerVersion(database: Database): Promise<string> {
  const [row] = await database.read(database.query.selectNoFrom(questions[database.engine].as('version')))
  return row?.version ?? 'unknown'
}
