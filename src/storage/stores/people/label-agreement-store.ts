// Stores which labels network and helpdesk had when they last agreed about a chat, and which chats must be looked at.

import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { ChatId, DestinationKey, InstanceName, RowId } from '../../../core/ids.ts'
import type { HoldOf } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import type { LabelAgreementTable } from '../../schema/labels.ts'
import { FencedWriter } from '../fenced-writer.ts'

/** The conversation and the labels about which network and helpdesk agree. */
export type LabelAgreement = {
  destination: DestinationKey | null
  conversationId: number | null
  titles: readonly string[]
}

/** A chat that must be looked at. `mark` names the last reason for it. */
export type DueLabels = { chat: ChatId; agreement: LabelAgreement; mark: RowId; attempts: number }

/** When to look again, after how many looks that failed; null when nothing is left to do. */
export type NextLook = { at: number; attempts: number } | null

/** Chats in which something may have changed. `mark` is a new text. */
export type DueMarks = {
  chats: readonly ChatId[]
  mark: RowId
  at: number
  /** What was agreed about the chats does not count any more. */
  forgetsAgreements?: boolean
}

type Key = { instance: InstanceName; chat: ChatId }

const nothingAgreed = { destination: null, conversation_id: null, titles: '[]' }
/** An engine takes 32,766 values at most, and a row has eight. */
const rowsAtOnce = 2000

export class LabelAgreementStore {
  readonly #database: Database
  readonly #writer: FencedWriter

  constructor(database: Database, holdOf: HoldOf) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
  }

  async find({ instance, chat }: Key): Promise<LabelAgreement | undefined> {
    const query = this.#database.query.selectFrom('label_agreements').selectAll()
    const [row] = await this.#database.read(query.where('instance', '=', instance).where('chat', '=', chat))
    return row && toAgreement(row)
  }

  /** The chats that have labels on both sides. */
  async agreedChats(instance: InstanceName): Promise<ChatId[]> {
    const query = this.#database.query.selectFrom('label_agreements').select('chat').where('instance', '=', instance)
    return (await this.#database.read(query.where('titles', '<>', '[]'))).map(({ chat }) => chat)
  }

  /** Something may have changed in these chats. */
  async markDue(instance: InstanceName, marks: DueMarks): Promise<void> {
    if (marks.chats.length > 0) await this.#writer.write(instance, ...dueSteps(this.#database, instance, marks))
  }

  /** The chats to be looked at now, the longest due first. */
  async due(instance: InstanceName, now: number, limit: number): Promise<DueLabels[]> {
    const query = this.#database.query.selectFrom('label_agreements').selectAll().where('instance', '=', instance)
    const rows = await this.#database.read(query.where('due_at', '<=', now).orderBy('due_at').limit(limit))
    return rows.map((row) => ({ chat: row.chat, agreement: toAgreement(row), mark: row.mark, attempts: row.attempts }))
  }

  /** When the next chat is due; null when none is. */
  async nextDueAt(instance: InstanceName): Promise<number | null> {
    const query = this.#database.query.selectFrom('label_agreements').select('due_at').where('instance', '=', instance)
    const [row] = await this.#database.read(query.where('due_at', 'is not', null).orderBy('due_at').limit(1))
    return row?.due_at ?? null
  }

  /** A look has ended. If the chat was marked again meanwhile, it stays due. */
  async settle({ instance, chat }: Key, agreement: LabelAgreement, mark: RowId, next: NextLook): Promise<void> {
    const { destination, conversationId, titles } = agreement
    const isLast = sql`mark = ${mark}`
    const columns = {
      destination,
      conversation_id: conversationId,
      titles: JSON.stringify(titles),
      due_at: sql<number | null>`CASE WHEN ${isLast} THEN CAST(${next?.at ?? null} AS BIGINT) ELSE due_at END`,
      attempts: sql<number>`CASE WHEN ${isLast} THEN CAST(${next?.attempts ?? 0} AS BIGINT) ELSE attempts END`,
    }
    const update = this.#database.query.updateTable('label_agreements').set(columns)
    await this.#writer.write(instance, update.where('instance', '=', instance).where('chat', '=', chat))
  }
}

/** The steps of a write that marks the chats. */
export function dueSteps({ query }: Database, instance: InstanceName, { chats, mark, at, ...marks }: DueMarks) {
  const rows = chats.map((chat) => ({ instance, chat, ...nothingAgreed, mark, due_at: at, attempts: 0 }))
  const changes = { mark, due_at: at, attempts: 0, ...(marks.forgetsAgreements === true && nothingAgreed) }
  return Array.from({ length: Math.ceil(rows.length / rowsAtOnce) }, (_, n) =>
    query
      .insertInto('label_agreements')
      .values(rows.slice(n * rowsAtOnce, (n + 1) * rowsAtOnce))
      .onConflict((conflict) => conflict.columns(['instance', 'chat']).doUpdateSet(changes)),
  )
}

function toAgreement(row: Selectable<LabelAgreementTable>): LabelAgreement {
  const { destination, conversation_id: conversationId, titles } = row
  return { destination, conversationId, titles: JSON.parse(titles) as string[] }
}
