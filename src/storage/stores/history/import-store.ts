// Stores how far the import of each chat of a job is. Only the process that owns the accounts writes.

import { sql } from 'kysely'
import type { Insertable, Selectable } from 'kysely'
import type { Anchor } from '../../../core/history/past-events.ts'
import type { ChatId, DestinationKey, InstanceName, Jid } from '../../../core/ids.ts'
import type { RowScope } from '../../../core/nodes/duties.ts'
import type { HoldOf } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import type { Statement } from '../../engine/statement.ts'
import type { ImportChatTable, ImportOutcome, ImportTarget } from '../../schema/history.ts'
import { FencedWriter } from '../fenced-writer.ts'
import type { JobRef } from '../jobs/job-store.ts'
import { inScope } from '../row-scope.ts'

export type { ImportOutcome, ImportTarget } from '../../schema/history.ts'

/** A chat of a job. `jids` are the addresses under which the phone keeps the chat. */
export type PlannedChat = { chat: ChatId; jids: readonly Jid[] }

/** The conversation that gets the messages. */
export type ImportPlace = { destination: DestinationKey; conversationId: number; target: ImportTarget }

export type ImportChat = PlannedChat & {
  jobId: string
  /** The messages before this one were asked for; null when the phone was not asked yet. */
  anchor: Anchor | null
  /** running: the phone was asked and has answered, or need not be asked. */
  state: 'waiting' | 'running' | 'done'
  /** How many messages the phone has sent because we asked. */
  seen: number
  place: ImportPlace | null
  /** When the creation of a History conversation at this destination began, if its outcome is not known. */
  opening: { destination: DestinationKey; since: number } | null
}

/** How many messages of a chat became what; `oldestAt` and `newestAt` are the times of the kept ones. */
export type ImportCounts = {
  seen: number
  kept: number
  posted: number
  skipped: number
  errors: number
  oldestAt: number | null
  newestAt: number | null
}

export type ImportTotals = ImportCounts & { chats: number; done: number; outcomes: Record<ImportOutcome, number> }

type ChatKey = Pick<ImportChat, 'jobId' | 'chat'>
type ChatChanges = Partial<Insertable<ImportChatTable>>

/** A chat has four parameters, and an engine takes many thousands. */
const chatsPerStatement = 500
const noPlace = { destination: null, conversation_id: null, target: null, opening_since: null }

export class ImportStore {
  readonly #database: Database
  readonly #writer: FencedWriter

  constructor(database: Database, holdOf: HoldOf) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
  }

  /** All chats of a job in one commit, so that a job is planned whole or not at all. */
  async plan({ id: jobId, instance }: JobRef, chats: readonly PlannedChat[]): Promise<void> {
    const rows = chats.map(({ chat, jids }) => ({
      ...{ job_id: jobId, chat, jids: JSON.stringify(jids), state: 'waiting' as const },
    }))
    const inserts = Array.from({ length: Math.ceil(rows.length / chatsPerStatement) }, (_, piece) =>
      this.#database.query
        .insertInto('import_chats')
        .values(rows.slice(piece * chatsPerStatement, (piece + 1) * chatsPerStatement))
        .onConflict((known) => known.columns(['job_id', 'chat']).doNothing()),
    )
    await this.#writer.write(instance, ...inserts)
  }

  /** The chats whose import has not ended. Those that began come first. */
  async unfinished(jobId: string): Promise<ImportChat[]> {
    const rows = await this.#database.read(
      this.#database.query
        .selectFrom('import_chats')
        .selectAll()
        .where('job_id', '=', jobId)
        .where('state', '!=', 'done')
        .orderBy('state')
        .orderBy('chat', (order) => this.#database.inByteOrder(order)),
    )
    return rows.map(toChat)
  }

  /**
   * Chats of jobs that were cancelled or failed while messages of the chat were being posted. A conversation that another
   * import has entered meanwhile is left out until that import has ended.
   */
  async abandoned(scope: RowScope): Promise<(ImportChat & { instance: InstanceName })[]> {
    const rows = await this.#database.read(
      this.#database.query
        .selectFrom('import_chats')
        .innerJoin('jobs', 'jobs.id', 'import_chats.job_id')
        .selectAll('import_chats')
        .select('jobs.instance')
        // A job that has completed has no such chats, and may have thousands of others.
        .where('jobs.status', 'in', ['cancelled', 'failed'])
        .where('import_chats.state', '=', 'running')
        .where(inScope(scope, 'jobs.instance'))
        .where('import_chats.conversation_id', 'is not', null)
        .where((row) => row.not(row.exists(this.#inUse()))),
    )
    return rows.map(({ instance, ...row }) => ({ ...toChat(row), instance }))
  }

  /** Whether a job that was cancelled or failed is still to resolve this conversation. */
  async isAbandoned(instance: InstanceName, { destination, conversationId }: Omit<ImportPlace, 'target'>) {
    const rows = await this.#database.read(
      this.#database.query
        .selectFrom('jobs')
        .innerJoin('import_chats', 'import_chats.job_id', 'jobs.id')
        .select('jobs.id')
        .where('jobs.instance', '=', instance)
        .where('jobs.status', 'in', ['cancelled', 'failed'])
        .where('import_chats.state', '=', 'running')
        .where('import_chats.destination', '=', destination)
        .where('import_chats.conversation_id', '=', conversationId)
        .limit(1),
    )
    return rows.length > 0
  }

  /** The phone is about to be asked for the messages before the anchor. A repeated question has the same anchor. */
  async noteAnchor(instance: InstanceName, chat: ChatKey, anchor: Anchor): Promise<void> {
    await this.#set(instance, chat, { anchor: JSON.stringify(anchor) })
  }

  /** The phone has sent what it was asked for, or it need not be asked. */
  async begin(instance: InstanceName, chat: ChatKey, seen: number): Promise<void> {
    await this.#set(instance, chat, { state: 'running', seen })
  }

  /** A History conversation is about to be created; null: certainly none is. */
  async noteOpening(instance: InstanceName, chat: ChatKey, opening: ImportChat['opening']): Promise<void> {
    await this.#set(instance, chat, {
      ...noPlace,
      destination: opening?.destination,
      opening_since: opening?.since ?? null,
    })
  }

  /** The conversation that gets the messages from now on; null when it is to be chosen again. */
  async setPlace(instance: InstanceName, chat: ChatKey, place: ImportPlace | null): Promise<void> {
    const { destination, conversationId, target } = place ?? {}
    await this.#set(
      instance,
      chat,
      place ? { ...noPlace, destination, conversation_id: conversationId, target } : noPlace,
    )
  }

  /** The import of the chat has ended. `removals` remove its messages in the same commit. */
  async end(
    instance: InstanceName,
    chat: ChatKey,
    { outcome, counts }: { outcome: ImportOutcome; counts: ImportCounts },
    removals: readonly Statement[],
  ): Promise<void> {
    const { seen, kept, posted, skipped, errors, oldestAt, newestAt } = counts
    const numbers = { seen, kept, posted, skipped, errors, oldest_at: oldestAt, newest_at: newestAt }
    await this.#writer.write(instance, this.#update(chat, { state: 'done', outcome, ...numbers }), ...removals)
  }

  /** What became of the chats of a job that have ended. `chats` counts all chats of the job. */
  async totals(jobId: string): Promise<ImportTotals> {
    const [row] = await this.#database.read(
      this.#database.query
        .selectFrom('import_chats')
        .select(({ fn }) => [
          fn.countAll<number>().as('chats'),
          countIf(sql`state = 'done'`).as('done'),
          countIf(sql`outcome = 'imported'`).as('imported'),
          countIf(sql`outcome = 'skipped'`).as('without_news'),
          countIf(sql`outcome = 'no_anchor'`).as('no_anchor'),
          countIf(sql`outcome = 'error'`).as('failed'),
          sumDone('seen').as('seen'),
          sumDone('kept').as('kept'),
          sumDone('posted').as('posted'),
          sumDone('skipped').as('skipped'),
          sumDone('errors').as('errors'),
          fn.min('oldest_at').as('oldest_at'),
          fn.max('newest_at').as('newest_at'),
        ])
        .where('job_id', '=', jobId),
    )
    if (!row) throw new Error('a query that counts has one row')
    const { imported, without_news, no_anchor, failed, oldest_at, newest_at, ...sums } = row
    const outcomes = { imported, skipped: without_news, no_anchor, error: failed }
    return { ...sums, oldestAt: oldest_at, newestAt: newest_at, outcomes }
  }

  /** Unfinished chats of other jobs with the conversation of `import_chats`. */
  #inUse() {
    return this.#database.query
      .selectFrom('import_chats as other')
      .innerJoin('jobs as under_way', 'under_way.id', 'other.job_id')
      .select('other.chat')
      .where('under_way.status', 'in', ['pending', 'running'])
      .where('other.state', '!=', 'done')
      .where(sql<boolean>`other.destination = import_chats.destination`)
      .where(sql<boolean>`other.conversation_id = import_chats.conversation_id`)
  }

  #update({ jobId, chat }: ChatKey, changes: ChatChanges) {
    const update = this.#database.query.updateTable('import_chats').set(changes)
    return update.where('job_id', '=', jobId).where('chat', '=', chat)
  }

  async #set(instance: InstanceName, chat: ChatKey, changes: ChatChanges): Promise<void> {
    await this.#writer.write(instance, this.#update(chat, changes))
  }
}

function countIf(condition: ReturnType<typeof sql>) {
  return sql<number>`CAST(coalesce(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0) AS BIGINT)`
}

function sumDone(column: string) {
  return sql<number>`CAST(coalesce(sum(CASE WHEN state = 'done' THEN ${sql.ref(column)} ELSE 0 END), 0) AS BIGINT)`
}

function toChat(row: Selectable<ImportChatTable>): ImportChat {
  const { destination, conversation_id, target, opening_since } = row
  const isPlaced = destination !== null && conversation_id !== null && target !== null
  const isOpening = destination !== null && opening_since !== null
  return {
    jobId: row.job_id,
    chat: row.chat,
    jids: JSON.parse(row.jids) as Jid[],
    anchor: row.anchor === null ? null : (JSON.parse(row.anchor) as Anchor),
    state: row.state,
    seen: row.seen,
    place: isPlaced ? { destination, conversationId: conversation_id, target } : null,
    opening: isOpening ? { destination, since: opening_since } : null,
  }
}
