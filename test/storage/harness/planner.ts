// Tells how the engine plans to read the tables of a statement.

import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { DatabaseLocation } from '../../../src/core/database-location.ts'

/** `isWhole`: the table is read from one end to the other. */
type PlannedRead = { table: string; index: string | undefined; isWhole: boolean }
export type Planner = { plan(statement: string): Promise<PlannedRead[]>; [Symbol.asyncDispose](): Promise<void> }

/** These indexes hold only rows that are still to be worked on, so a statement may read all of such an index. */
const indexesOfWork = ['deliveries_pending', 'inbox_late_files', 'outbox_by_look', 'outbox_unsure']

export async function openPlanner(location: DatabaseLocation): Promise<Planner> {
  return location.engine === 'sqlite' ? sqlitePlanner(location.path) : postgresPlanner(location.url)
}

function sqlitePlanner(path: string): Planner {
  const database = new DatabaseSync(path, { readOnly: true })
  return {
    plan: (statement) => {
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all() as { detail: string }[]
      return Promise.resolve(steps.flatMap(({ detail }) => sqliteRead(detail, statement)))
    },
    [Symbol.asyncDispose]: () => {
      database.close()
      return Promise.resolve()
    },
  }
}

/** All rows may have one destination, instance or status, so a search by one of these columns alone reads them all. */
function sqliteRead(detail: string, statement: string): PlannedRead[] {
  const [, how, name] = /^(SCAN|SEARCH) (\w+)/.exec(detail) ?? []
  if (name === undefined) return []
  // The plan names a table by its alias.
  const table = new RegExp(`"(\\w+)" as "${name}"`).exec(statement)?.[1] ?? name
  const index = /INDEX (\w+)/.exec(detail)?.[1]
  const isWhole = how === 'SCAN' || /\((destination|instance|status)=\?\)$/.test(detail)
  return [{ table, index, isWhole: isWhole && !indexesOfWork.includes(index ?? '') }]
}

type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: PlanNode[]
}

/** PostgreSQL prefers to scan tables that are almost empty. Scans are made expensive, so that one means that no index helps. */
async function postgresPlanner(url: string): Promise<Planner> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('SET enable_seqscan = off')
  return {
    plan: async (statement) => {
      const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
        `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${statement}`,
      )
      return rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => postgresReads(Plan, false)))
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

/** The number of rows decides which index PostgreSQL takes, so only the lack of a condition counts. */
function postgresReads(node: PlanNode, isLimited: boolean): PlannedRead[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, Plans: inner = [] } = node
  const isAllOfIndex = /^Index (Only )?Scan/.test(type) && node['Index Cond'] === undefined
  const isWhole = type === 'Seq Scan' || (isAllOfIndex && !isLimited && !indexesOfWork.includes(index ?? ''))
  const below = inner.flatMap((each) => postgresReads(each, type === 'Limit'))
  return table === undefined ? below : [{ table, index, isWhole }, ...below]
}
