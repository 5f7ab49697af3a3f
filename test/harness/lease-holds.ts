// On PostgreSQL the right to write is an assignment of each instance. A test of one process takes the lease instead, on both
// engines: here the process that has the lease holds every instance that it writes for.

import type { DatabaseLocation } from '../../src/core/database-location.ts'
import { Database, openDatabase } from '../../src/storage/database.ts'
import { PostgresEngine } from '../../src/storage/engine/postgres-engine.ts'
import type { Engine, Statement } from '../../src/storage/engine/statement.ts'
import { silentLog } from './logs.ts'
import { testNode } from './holds.ts'

const assignmentFence = /^select "epoch" from "assignments" .* for share$/
const nodeFence = /^select "id" from "nodes" .* for key share$/
const assignmentInsert = /^INSERT INTO assignments/

/** `isPassing`: no instance stays held after a write, so that a service can start on the database. */
export async function openOwnDatabase(
  location: DatabaseLocation,
  encryptionKeys: readonly Uint8Array[] = [],
  { isPassing = false } = {},
): Promise<Database> {
  if (location.engine === 'sqlite') return openDatabase({ location, encryptionKeys, log: silentLog })
  const options = { url: location.url, encryptionKeys, log: silentLog, connections: undefined, signal: undefined }
  const { engine, vital } = await PostgresEngine.open(options)
  return new Database('postgres', withHolds(engine, isPassing), vital)
}

/** The engine gives a hold before each write that needs it. */
export function withHolds(engine: Engine, isPassing = false): Engine {
  return {
    read: (...asked) => engine.read(...asked),
    async write(statements) {
      const grants = statements.flatMap(grantFor)
      if (grants.length > 0) await engine.write(grants)
      try {
        return await engine.write(statements)
      } finally {
        if (isPassing && grants.length > 0) await engine.write(releases)
      }
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

function grantFor({ sql, parameters }: Statement): Statement[] {
  const [first, node] = parameters
  if (typeof first !== 'string') return []
  if (assignmentFence.test(sql) && isOfTest(node)) return [grantOf(first, node)]
  if (nodeFence.test(sql) && isOfTest(first)) return [joinOf(first), onlyOwnerLives]
  if (assignmentInsert.test(sql)) return [withdrawalOf(first)]
  return []
}

function isOfTest(node: unknown): node is string {
  return typeof node === 'string' && node.startsWith(testNode)
}

function joinOf(node: string): Statement {
  const sql = `INSERT INTO nodes (id, name, address, build, protocol, settings_hash, state, capacity, joined_at)
    VALUES ($1, 'test', '', '', 1, '', 'active', 100, 0) ON CONFLICT DO NOTHING`
  return { sql, parameters: [node] }
}

/** The nodes of epochs that are over are dead. */
const onlyOwnerLives: Statement = {
  sql: `UPDATE nodes SET state = CASE WHEN EXISTS (
      SELECT 1 FROM lease WHERE nodes.id = CASE WHEN epoch = 1 THEN '${testNode}' ELSE '${testNode}' || epoch END
    ) THEN 'active' ELSE 'dead' END
    WHERE id LIKE '${testNode}%'`,
  parameters: [],
}

/** Also of an instance that no node holds, such as those of a restored database. */
function grantOf(instance: string, node: string): Statement {
  const sql = `INSERT INTO assignments (instance, node, epoch, since) SELECT $1, $2, epoch, 0 FROM lease
    ON CONFLICT (instance) DO UPDATE SET epoch = excluded.epoch, node = excluded.node
    WHERE assignments.node IS NULL OR assignments.node LIKE '${testNode}%'`
  return { sql, parameters: [instance, node] }
}

const releases: Statement[] = [
  { sql: `UPDATE assignments SET node = NULL WHERE node LIKE '${testNode}%'`, parameters: [] },
  { sql: `DELETE FROM nodes WHERE id LIKE '${testNode}%'`, parameters: [] },
]

/** An instance that is created gets its assignment with its record. */
function withdrawalOf(instance: string): Statement {
  const sql = `DELETE FROM assignments
    WHERE instance = $1 AND node LIKE '${testNode}%' AND NOT EXISTS (SELECT 1 FROM instances WHERE name = $1)`
  return { sql, parameters: [instance] }
}
