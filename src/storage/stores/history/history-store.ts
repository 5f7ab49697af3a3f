// Stores the history that the phone sent: its messages until they are imported, and the oldest message known of each chat.
//
// The outcome of a message is written in the commit that completes its row in the message map, so this store returns statements.

import type { Anchor } from '../../../core/history/past-events.ts'
import type { InstanceName, Jid, RowId } from '../../../core/ids.ts'
import type { MessageKey, NetworkEvent } from '../../../core/message.ts'
import type { Hold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'
import { historyMessageSecrets } from '../../schema/history.ts'
import type { HistoryOutcome } from '../../schema/history.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'
import { compileKeeping } from './keep-statements.ts'
import type { NewHistoryRow } from './keep-statements.ts'

/** A place in the order of a chat. A row is its own place. */
export type HistoryPlace = { sentAt: number; position: number; id: RowId }
export type HistoryRow = HistoryPlace & { chatJid: Jid; event: NetworkEvent }
export type HistoryPage = {
  /** Messages before that time are left out; epoch milliseconds. */
  since: number
  /** Null for the first page. */
  after: HistoryPlace | null
  limit: number
}
/** `pending` counts the messages that are still to be imported. */
export type HistoryChat = { jid: Jid; pending: number; anchor: Anchor | null }
/** What a job made of the messages of a chat. The times are those of its oldest and newest message. */
export type OutcomeCounts = Record<HistoryOutcome, number> & { oldestAt: number | null; newestAt: number | null }

/** Before the first message of a second. */
const firstPosition = Number.MIN_SAFE_INTEGER

export class HistoryStore {
  readonly #database: Database
  readonly #fence: Fence
  readonly #keeping: ReturnType<typeof compileKeeping>

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
    this.#keeping = compileKeeping(database)
  }

  /**
   * One commit. A message that is stored already stays as it is, and an anchor only moves to an older message. Rejects when
   * the instance does not exist any more.
   */
  async keep(hold: Hold, rows: readonly NewHistoryRow[], anchors: ReadonlyMap<Jid, Anchor>): Promise<void> {
    await this.#database.write(this.#fence(hold), ...this.#keeping(hold.instance, rows, anchors))
  }

  /** The chats of which messages or an anchor are known. Only messages of that time or later are counted. */
  async chats(instance: InstanceName, since = 0): Promise<HistoryChat[]> {
    const query = this.#database.query
      .selectFrom('history_chats as chat')
      .select((chat) => [
        'chat.chat_jid',
        'chat.anchor',
        'chat.anchor_at',
        chat
          .selectFrom('history_messages as message')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .whereRef('message.instance', '=', 'chat.instance')
          .whereRef('message.chat_jid', '=', 'chat.chat_jid')
          .where('message.sent_at', '>=', since)
          .where('message.outcome', 'is', null)
          .as('pending'),
      ])
      .where('chat.instance', '=', instance)
      .orderBy('chat.chat_jid', (order) => this.#database.inByteOrder(order))
    const rows = await this.#database.read(query)
    return rows.map((row) => ({ jid: row.chat_jid, pending: row.pending ?? 0, anchor: toAnchor(row) }))
  }

  /** How many messages of the instance are still to be imported. */
  async count(instance: InstanceName): Promise<number> {
    const query = this.#database.query
      .selectFrom('history_messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('instance', '=', instance)
      .where('outcome', 'is', null)
    return (await this.#database.read(query))[0]?.count ?? 0
  }

  /** Messages that are still to be imported, oldest first. */
  async pending(
    instance: InstanceName,
    jids: readonly Jid[],
    { since, after, limit }: HistoryPage,
  ): Promise<HistoryRow[]> {
    const pages = await Promise.all(jids.map((jid) => this.#page(instance, jid, { since, after, limit })))
    const isSorted = pages.length === 1
    const rows = isSorted ? pages.flat() : pages.flat().sort(compare)
    return rows.slice(0, limit)
  }

  /** The oldest message that the phone told of the chat. */
  async anchorOf(instance: InstanceName, jids: readonly Jid[]): Promise<Anchor | null> {
    if (jids.length === 0) return null
    const query = this.#database.query
      .selectFrom('history_chats')
      .select(['anchor', 'anchor_at'])
      .where('instance', '=', instance)
      .where('chat_jid', 'in', jids)
    const anchors = (await this.#database.read(query)).flatMap((row) => toAnchor(row) ?? [])
    return anchors.sort((one, other) => one.at - other.at)[0] ?? null
  }

  /** The import has made this of the message. After an error the event stays, so that another import can try again. */
  outcomeStatement(id: RowId, outcome: HistoryOutcome, jobId: string): Statement {
    const dropped = outcome === 'error' ? {} : { event: null }
    const update = this.#database.query.updateTable('history_messages').set({ outcome, job_id: jobId, ...dropped })
    return toStatement(update.where('id', '=', id))
  }

  async setOutcome(hold: Hold, id: RowId, outcome: HistoryOutcome, jobId: string): Promise<void> {
    await this.#database.write(this.#fence(hold), this.outcomeStatement(id, outcome, jobId))
  }

  async outcomes(instance: InstanceName, jids: readonly Jid[], jobId: string): Promise<OutcomeCounts> {
    const query = this.#database.query
      .selectFrom('history_messages')
      .select(({ fn }) => [
        'outcome',
        fn.countAll<number>().as('count'),
        fn.min('sent_at').as('oldest'),
        fn.max('sent_at').as('newest'),
      ])
      .where('job_id', '=', jobId)
      .where('chat_jid', 'in', jids)
      .where('instance', '=', instance)
      .groupBy('outcome')
    const counts: OutcomeCounts = { posted: 0, skipped: 0, filtered: 0, error: 0, oldestAt: null, newestAt: null }
    for (const { outcome, count, oldest, newest } of jids.length === 0 ? [] : await this.#database.read(query)) {
      if (outcome === null) continue
      counts[outcome] = count
      counts.oldestAt = Math.min(counts.oldestAt ?? oldest, oldest)
      counts.newestAt = Math.max(counts.newestAt ?? newest, newest)
    }
    return counts
  }

  /** The job is done with the chat: its messages are removed. A message that failed can be imported by another job. */
  removeStatements(instance: InstanceName, jids: readonly Jid[], jobId: string): Statement[] {
    if (jids.length === 0) return []
    const { query } = this.#database
    const removal = query.deleteFrom('history_messages').where('outcome', '<>', 'error')
    const release = query.updateTable('history_messages').set({ outcome: null, job_id: null })
    return [
      toStatement(removal.where('job_id', '=', jobId).where('chat_jid', 'in', jids).where('instance', '=', instance)),
      toStatement(release.where('job_id', '=', jobId).where('chat_jid', 'in', jids).where('instance', '=', instance)),
    ]
  }

  async #page(instance: InstanceName, jid: Jid, { since, after, limit }: HistoryPage): Promise<HistoryRow[]> {
    const query = this.#database.query
      .selectFrom('history_messages')
      .select(['id', 'chat_jid', 'sent_at', 'position', 'event'])
      .where('instance', '=', instance)
      .where('chat_jid', '=', jid)
      .where('outcome', 'is', null)
      .where('sent_at', '>=', since)
      .where((row) =>
        row(
          row.refTuple('sent_at', 'position', 'id'),
          '>',
          row.tuple(after?.sentAt ?? since, after?.position ?? firstPosition, after?.id ?? ''),
        ),
      )
      .orderBy('sent_at')
      .orderBy('position')
      .orderBy('id')
      .limit(limit)
    const rows = await this.#database.read(query, historyMessageSecrets)
    return rows.flatMap(({ id, chat_jid, sent_at, position, event }) =>
      event ? [{ id, chatJid: chat_jid, sentAt: sent_at, position, event: toEvent(event) }] : [],
    )
  }
}

function toEvent(stored: Uint8Array): NetworkEvent {
  return JSON.parse(Buffer.from(stored).toString('utf8')) as NetworkEvent
}

function toAnchor({ anchor, anchor_at }: { anchor: string | null; anchor_at: number | null }): Anchor | null {
  return anchor === null || anchor_at === null ? null : { key: JSON.parse(anchor) as MessageKey, at: anchor_at }
}

function compare(one: HistoryPlace, other: HistoryPlace): number {
  return one.sentAt - other.sentAt || one.position - other.position || (one.id < other.id ? -1 : 1)
}
