// Usage counters per instance, day and the owner tag that the instance had on that day.

import { sql } from 'kysely'
import type { InstanceName } from '../../../core/ids.ts'
import type { UsageCounter, UsageCounts } from '../../../core/usage.ts'
import { usageCounters } from '../../../core/usage.ts'
import type { Database } from '../../database.ts'
import { StorageError, toStatement } from '../../engine/statement.ts'

export type UsageKey = { instance: InstanceName; day: string; ownerTag: string }
/** Counts that are stored once, under an id. `at` is the time when they were taken together. */
export type UsageBatch = { id: string; at: number; rows: readonly (UsageKey & UsageCounts)[] }
export type DailyUsage = { instance: InstanceName; day: string } & UsageCounts
export type MonthlyUsage = { owner_tag: string; month: string; active_instances: number } & UsageCounts
export type UsageRange = { from: string; to: string }

// Cast, because PostgreSQL widens a sum of bigint to numeric, which arrives as text.
const sumOf = (counter: UsageCounter) => sql<number>`CAST(coalesce(sum(${sql.ref(counter)}), 0) AS BIGINT)`.as(counter)
const sums = usageCounters.map(sumOf)
const month = sql<string>`substr(day, 1, 7)`

// Far longer than a process repeats a batch whose answer was lost.
const keepBatchesMs = 86_400_000

export class UsageStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Adds to the stored counters: all rows or none. A batch that is stored already adds nothing. */
  async add({ id, at, rows }: UsageBatch): Promise<void> {
    if (rows.length === 0) return
    const { query } = this.#database
    const batch = query.insertInto('usage_batches').values({ id, stored_at: at })
    const isNew = toStatement(
      batch.onConflict((known) => known.doNothing()),
      1,
    )
    const old = query.deleteFrom('usage_batches').where('stored_at', '<', at - keepBatchesMs)
    try {
      await this.#database.write(isNew, old, ...this.#additions(rows))
    } catch (error) {
      if (!(error instanceof StorageError) || error.failure !== 'expectation') throw error
    }
  }

  #additions(rows: UsageBatch['rows']) {
    return rows.map(({ ownerTag, ...row }) =>
      this.#database.query
        .insertInto('usage')
        .values({ ...row, owner_tag: ownerTag })
        .onConflict((conflict) =>
          conflict.columns(['instance', 'day', 'owner_tag']).doUpdateSet(({ eb }) => ({
            messages_in: eb('usage.messages_in', '+', eb.ref('excluded.messages_in')),
            messages_out: eb('usage.messages_out', '+', eb.ref('excluded.messages_out')),
            spamguard_blocks: eb('usage.spamguard_blocks', '+', eb.ref('excluded.spamguard_blocks')),
            lifecycle_events: eb('usage.lifecycle_events', '+', eb.ref('excluded.lifecycle_events')),
          })),
        ),
    )
  }

  /** By instance, then day; both ends included. */
  async daily({ from, to }: UsageRange, instance?: InstanceName): Promise<DailyUsage[]> {
    const query = this.#database.query
      .selectFrom('usage')
      .select(['instance', 'day', ...sums])
      .where('day', '>=', from)
      .where('day', '<=', to)
      .groupBy(['instance', 'day'])
      .orderBy('instance', (order) => this.#database.inByteOrder(order))
      .orderBy('day')
    return this.#database.read(instance === undefined ? query : query.where('instance', '=', instance))
  }

  /** By owner tag, then month; both ends included. */
  async monthly({ from, to }: UsageRange): Promise<MonthlyUsage[]> {
    const instances = sql<number>`CAST(count(DISTINCT instance) AS BIGINT)`
    return this.#database.read(
      this.#database.query
        .selectFrom('usage')
        .select(['owner_tag', month.as('month'), ...sums, instances.as('active_instances')])
        .where('day', '>=', `${from}-01`)
        .where('day', '<=', `${to}-31`)
        .groupBy(['owner_tag', month])
        .orderBy('owner_tag', (order) => this.#database.inByteOrder(order))
        .orderBy(month),
    )
  }

  async totals(): Promise<UsageCounts> {
    const [row] = await this.#database.read(this.#database.query.selectFrom('usage').select(sums))
    if (!row) throw new Error('an aggregate without groups returns one row')
    return row
  }
}
