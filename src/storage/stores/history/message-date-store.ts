// Stores which posted messages still need their true date in the database of the helpdesk.
//
// A row is removed when the helpdesk shows the right date. When a conversation is under import, the last row of each batch stays
// held until the import has ended: then the conversation is resolved, and its own times are corrected once more.

import type { ExpressionBuilder } from 'kysely'
import type { Destination } from '../../../core/downstream.ts'
import { installationAt } from '../../../core/helpdesk/helpdesk-database.ts'
import type { DestinationKey, NetworkMessageId } from '../../../core/ids.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import type { Schema } from '../../schema.ts'
import { batchSize } from '../delete-in-batches.ts'
import { NodeWriter } from '../node-writer.ts'

/** A message that was posted now, and when it was written, in milliseconds. */
export type NewMessageDate = {
  destination: Destination
  conversationId: number
  messageId: number
  sourceId: NetworkMessageId
  at: number
  now: number
}

/** Which row of the table. */
export type MessageDateId = { destination: DestinationKey; messageId: number }

export type DueDate = MessageDateId & {
  accountId: number
  inboxId: number
  conversationId: number
  sourceId: NetworkMessageId
  at: number
  /** Whether the conversation is under import. */
  isImporting: boolean
}

export class MessageDateStore {
  readonly #database: Database
  readonly #writer: NodeWriter

  constructor(database: Database, nodeHold: () => NodeHold) {
    this.#database = database
    this.#writer = new NodeWriter(database, nodeHold)
  }

  /** Belongs into the commit that says that the message is posted. */
  queueStatement({ destination, conversationId, messageId, sourceId, at, now }: NewMessageDate) {
    return this.#database.query
      .insertInto('message_dates')
      .values({
        ...{ destination: destination.key, message_id: messageId, base_url: installationAt(destination.baseUrl) },
        ...{ account_id: destination.accountId, inbox_id: destination.inboxId, conversation_id: conversationId },
        ...{ source_id: sourceId, sent_at: at, queued_at: now },
      })
      .onConflict((known) => known.columns(['destination', 'message_id']).doNothing())
  }

  /** The messages of one installation of the helpdesk, those that wait longest first. */
  async due(installation: string, limit: number): Promise<DueDate[]> {
    const dates = this.#database.query
      .selectFrom('message_dates')
      .select(['destination', 'message_id', 'account_id', 'inbox_id', 'conversation_id', 'source_id', 'sent_at'])
      .select((row) => isImporting(row).as('is_importing'))
      .where('base_url', '=', installation)
      .where((row) => row.or([row('is_held', 'is', null), row.not(isImporting(row))]))
    const rows = await this.#database.read(dates.orderBy('queued_at').limit(limit))
    return rows.map((row) => ({
      ...{ destination: row.destination, messageId: row.message_id, conversationId: row.conversation_id },
      ...{ accountId: row.account_id, inboxId: row.inbox_id, sourceId: row.source_id, at: row.sent_at },
      isImporting: Boolean(row.is_importing),
    }))
  }

  /** Removes the rows that are done. The held ones are due again when the import into their conversation has ended. */
  async settle({ done, held }: Readonly<Record<'done' | 'held', readonly MessageDateId[]>>): Promise<void> {
    const { query } = this.#database
    const removals = [...Map.groupBy(done, ({ destination }) => destination)].map(([destination, rows]) =>
      query.deleteFrom('message_dates').where('destination', '=', destination).where('message_id', 'in', idsOf(rows)),
    )
    const holds = [...Map.groupBy(held, ({ destination }) => destination)].map(([destination, rows]) =>
      query
        .updateTable('message_dates')
        .set({ is_held: 1 })
        .where('destination', '=', destination)
        .where('message_id', 'in', idsOf(rows)),
    )
    if (removals.length + holds.length > 0) await this.#writer.write(...removals, ...holds)
  }

  /** Removes the rows that were queued before that time: no helpdesk has taken them since. */
  async prune(before: number): Promise<void> {
    const { query } = this.#database
    const old = query
      .selectFrom('message_dates')
      .select(['destination', 'message_id'])
      .where('queued_at', '<', before)
      .limit(batchSize)
    const isOld = (row: ExpressionBuilder<Schema, 'message_dates'>) =>
      row(row.refTuple('destination', 'message_id'), 'in', old.$asTuple('destination', 'message_id'))
    await this.#writer.removeAll(query.deleteFrom('message_dates').where(isOld))
  }
}

function idsOf(rows: readonly MessageDateId[]): number[] {
  return rows.map(({ messageId }) => messageId)
}

/** Whether the conversation of the row is under import. */
function isImporting(row: ExpressionBuilder<Schema, 'message_dates'>) {
  return row.exists(
    row
      .selectFrom('conversation_chats')
      .select('chat')
      .whereRef('conversation_chats.destination', '=', 'message_dates.destination')
      .whereRef('conversation_chats.conversation_id', '=', 'message_dates.conversation_id')
      // A literal: the index holds only the conversations under import.
      .where('is_importing', '=', row.lit(1)),
  )
}
