// Stores received events until the helpdesk has them, in the order of their arrival. The journal writes the rows, the bridge
// removes them.

import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { InstanceName, RowId } from '../../../core/ids.ts'
import type { NetworkEvent } from '../../../core/message.ts'
import type { RowScope } from '../../../core/nodes/duties.ts'
import type { Hold, NodeHold } from '../../../core/nodes/hold.ts'
import { getOrCreate } from '../../../lib/keyed.ts'
import { SharedReads } from '../../../lib/queues/shared-reads.ts'
import { compileOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { batchSize, deleteInBatches } from '../delete-in-batches.ts'
import { createFence, isUnexpected, writeHeld } from '../fence.ts'
import type { Fence } from '../fence.ts'
import { inScope } from '../row-scope.ts'
import { inboxSecrets } from '../../schema/messages.ts'
import type { InboxTable } from '../../schema/messages.ts'
import { toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

export type InboxRow = {
  id: RowId
  instance: InstanceName
  event: NetworkEvent
  receivedAt: number
  attempts: number
  /** The kind of the event, or `late_file` for a message that was posted without its file. */
  kind: string
  lastError: string | null
  /** The row comes from a backup. If the event was posted since, its message has a higher id than this one. */
  postedAfter?: number
}

/** The kind of a row whose message is at the helpdesk and whose file is still to come. */
export const lateFile = 'late_file'

export type ParkedRow = Omit<InboxRow, 'event' | 'instance' | 'postedAfter'>
export type LateFileRow = Omit<InboxRow, 'event' | 'postedAfter'>
export type InboxCounts = { pending: number; parked: number }

const lightColumns = ['id', 'received_at', 'attempts', 'kind', 'last_error'] as const

export class InboxStore {
  readonly #database: Database
  readonly #fence: Fence
  readonly #removal: ReturnType<typeof compileRemoval>
  readonly #counts: SharedReads<InboxCounts>

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
    this.#removal = compileRemoval(database)
    this.#counts = new SharedReads((instances) => readCounts(database, instances))
  }

  /** The ids of the pending rows of an instance between these ids, oldest first, without those that only wait for a file. */
  async pendingIds(
    instance: InstanceName,
    { after, newest }: { after: RowId; newest: RowId },
    limit: number,
  ): Promise<RowId[]> {
    const query = this.#database.query
      .selectFrom('inbox')
      .select('id')
      .where('instance', '=', instance)
      .where('state', '=', 'pending')
      .where('kind', '!=', lateFile)
      .where('id', '>', after)
      .where('id', '<=', newest)
      .orderBy('id', (order) => this.#database.inByteOrder(order))
      .limit(limit)
    return (await this.#database.read(query)).map(({ id }) => id)
  }

  /** The id of the last pending row of an instance. */
  async newest(instance: InstanceName): Promise<RowId | undefined> {
    const query = this.#database.query
      .selectFrom('inbox')
      .select('id')
      .where('instance', '=', instance)
      .where('state', '=', 'pending')
      .orderBy('id', (order) => this.#database.inByteOrder(order.desc()))
      .limit(1)
    return (await this.#database.read(query)).at(0)?.id
  }

  /** Those of the rows that still exist, oldest first. */
  async load(ids: readonly RowId[]): Promise<InboxRow[]> {
    if (ids.length === 0) return []
    const query = this.#database.query
      .selectFrom('inbox')
      .selectAll()
      .where('id', 'in', ids)
      .orderBy('id', (order) => this.#database.inByteOrder(order))
    return (await this.#database.read(query, inboxSecrets)).map(toRow)
  }

  /** The rows that only wait for a file, oldest first. Without their events: one that is damaged must not hide the others. */
  async lateFiles(after: RowId, limit: number, scope: RowScope): Promise<LateFileRow[]> {
    const query = this.#database.query
      .selectFrom('inbox')
      .select([...lightColumns, 'instance'])
      // In the text of the statement, so that the partial index is used.
      .where('kind', '=', sql.lit(lateFile))
      .where('id', '>', after)
      .where(inScope(scope))
      .orderBy('id', (order) => this.#database.inByteOrder(order))
      .limit(limit)
    return (await this.#database.read(query)).map((row) => ({ ...toParked(row), instance: row.instance }))
  }

  /** Oldest first. */
  async parked(instance: InstanceName, limit: number): Promise<ParkedRow[]> {
    const query = this.#database.query
      .selectFrom('inbox')
      .select(lightColumns)
      .where('instance', '=', instance)
      .where('state', '=', 'parked')
      .orderBy('id', (order) => this.#database.inByteOrder(order))
      .limit(limit)
    return (await this.#database.read(query)).map(toParked)
  }

  async parkedIds(instance: InstanceName): Promise<RowId[]> {
    const query = this.#database.query.selectFrom('inbox').select('id')
    const rows = await this.#database.read(query.where('instance', '=', instance).where('state', '=', 'parked'))
    return rows.map(({ id }) => id)
  }

  /** Instances that are asked for together share a read. */
  async counts(instance: InstanceName): Promise<InboxCounts> {
    return (await this.#counts.find(instance)) ?? { pending: 0, parked: 0 }
  }

  async remove(hold: Hold, id: RowId): Promise<void> {
    await this.#database.write(this.#fence(hold), this.removeStep(id))
  }

  /** A statement for the commit that stores the message of the row as posted. */
  removeStep(id: RowId): Statement {
    return this.#removal({ id })
  }

  /** Instead of removeStep, when the file of the message is still to come: the row stays. */
  awaitFileStep(id: RowId): Statement {
    const update = this.#database.query.updateTable('inbox').set({ kind: lateFile, attempts: 0 })
    return toStatement(update.where('id', '=', id))
  }

  /** Counts a failed attempt. */
  async noteFailure(hold: Hold, id: RowId, reason: string): Promise<void> {
    const update = this.#database.query
      .updateTable('inbox')
      .set(({ eb }) => ({ attempts: eb('attempts', '+', 1), last_error: reason }))
    await this.#database.write(this.#fence(hold), update.where('id', '=', id))
  }

  async park(hold: Hold, id: RowId, reason: string): Promise<void> {
    const update = this.#database.query.updateTable('inbox').set({ state: 'parked', last_error: reason })
    await this.#database.write(this.#fence(hold), update.where('id', '=', id))
  }

  /** Makes every parked row of the instance pending again. Returns the ids of the rows. */
  async retryParked(hold: Hold): Promise<RowId[]> {
    const rows = await this.#database.writeReturning(
      this.#fence(hold),
      this.#database.query
        .updateTable('inbox')
        .set({ state: 'pending', attempts: 0 })
        .where('instance', '=', hold.instance)
        .where('state', '=', 'parked')
        .returning('id'),
    )
    return rows.map(({ id }) => id).sort()
  }

  /** False when there is no such parked row. */
  async removeParked(hold: Hold, id: RowId): Promise<boolean> {
    const removal = this.#database.query
      .deleteFrom('inbox')
      .where('id', '=', id)
      .where('instance', '=', hold.instance)
      .where('state', '=', 'parked')
    try {
      await writeHeld(this.#database, this.#fence, hold, toStatement(removal, 1))
      return true
    } catch (error) {
      if (!isUnexpected(error)) throw error
      return false
    }
  }

  /** Removes the rows of instances that do not exist any more. Returns how many there were. */
  async dropOrphans(hold: NodeHold): Promise<number> {
    const { query } = this.#database
    const orphans = query
      .selectFrom('inbox')
      .select('id')
      .where('instance', 'not in', query.selectFrom('instances').select('name'))
      .limit(batchSize)
    const removal = toStatement(query.deleteFrom('inbox').where('id', 'in', orphans))
    return deleteInBatches(async () => {
      const [, removed = 0] = await this.#database.write(this.#fence(hold), removal)
      return removed
    })
  }
}

async function readCounts(
  database: Database,
  instances: readonly InstanceName[],
): Promise<Map<InstanceName, InboxCounts>> {
  const query = database.query
    .selectFrom('inbox')
    .select(['instance', 'state', ({ fn }) => fn.countAll<number>().as('count')])
    .where('instance', 'in', instances)
    .where('kind', '!=', lateFile)
    .groupBy(['instance', 'state'])
  const counts = new Map<InstanceName, InboxCounts>()
  for (const { instance, state, count } of await database.read(query)) {
    getOrCreate(counts, instance, () => ({ pending: 0, parked: 0 }))[state] = count
  }
  return counts
}

function compileRemoval({ query }: Database) {
  return compileOnce(['id'], ({ id }) => query.deleteFrom('inbox').where('id', '=', id))
}

function toRow(row: Selectable<InboxTable>): InboxRow {
  return {
    ...toParked(row),
    instance: row.instance,
    event: JSON.parse(Buffer.from(row.event).toString('utf8')) as NetworkEvent,
    ...(row.posted_after !== null && { postedAfter: row.posted_after }),
  }
}

function toParked(row: Pick<Selectable<InboxTable>, (typeof lightColumns)[number]>): ParkedRow {
  const { id, received_at, attempts, kind, last_error } = row
  return { id, receivedAt: received_at, attempts, kind, lastError: last_error }
}
