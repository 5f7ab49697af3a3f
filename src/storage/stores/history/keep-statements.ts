// The statements that keep a piece of the history. Compiled once: a history has tens of thousands of messages.

import { sql } from 'kysely'
import type { Anchor } from '../../../core/history/past-events.ts'
import type { InstanceName, Jid, RowId } from '../../../core/ids.ts'
import type { NetworkEvent } from '../../../core/message.ts'
import type { Database } from '../../database.ts'
import { placeOf, toStatement } from '../../engine/statement.ts'
import type { Scalar, Secret, Statement } from '../../engine/statement.ts'
import { historyMessageSecrets } from '../../schema/history.ts'

export type NewHistoryRow = {
  id: RowId
  chatJid: Jid
  /** The author in a group; empty in a chat of two. */
  participant: string
  position: number
  event: NetworkEvent
}

/** Messages go in statements of this many, because PostgreSQL answers each statement. The rest goes one by one. */
const rowsPerStatement = 50

type Keeping = (
  instance: InstanceName,
  rows: readonly NewHistoryRow[],
  anchors: ReadonlyMap<Jid, Anchor>,
) => Statement[]

export function compileKeeping(database: Database): Keeping {
  const { instanceExists, keepChat, keepMessages } = compile(database)
  return (instance, rows, anchors) => {
    const chats = new Set([...rows.map(({ chatJid }) => chatJid), ...anchors.keys()])
    const messages = rows.map((row) => valuesOf(instance, row))
    const full = messages.length - (messages.length % rowsPerStatement)
    const pieces = [
      ...Array.from({ length: full / rowsPerStatement }, (_, n) =>
        messages.slice(n * rowsPerStatement, (n + 1) * rowsPerStatement),
      ),
      ...messages.slice(full).map((message) => [message]),
    ]
    return [
      { sql: instanceExists, parameters: [instance], expect: 1 },
      ...[...chats].map((jid) => ({ sql: keepChat, parameters: chatValues(instance, jid, anchors.get(jid)) })),
      ...pieces.map((piece) => ({
        sql: piece.length === 1 ? keepMessages.one : keepMessages.many,
        parameters: piece.flat(),
      })),
    ]
  }
}

function compile({ query, engine }: Database) {
  const row = {
    ...{ id: '', instance: '', chat_jid: '', network_id: '', participant: '', kind: '', sent_at: 0, position: 0 },
    event: { seal: new Uint8Array(), place: '' },
  }
  const insert = (count: number) =>
    toStatement(
      query
        .insertInto('history_messages')
        .values(Array.from({ length: count }, () => row))
        .onConflict((known) => known.doNothing()),
    ).sql
  // A deletion of the instance waits for the lock on PostgreSQL, so that no message is stored after it.
  const found = query.selectFrom('instances').select('name').where('name', '=', '')
  const keepChat = query
    .insertInto('history_chats')
    .values({ instance: '', chat_jid: '', anchor: '', anchor_at: 0 })
    .onConflict((known) =>
      known
        .columns(['instance', 'chat_jid'])
        .doUpdateSet((row) => ({ anchor: row.ref('excluded.anchor'), anchor_at: row.ref('excluded.anchor_at') }))
        .where(
          sql<boolean>`excluded.anchor_at < history_chats.anchor_at
            OR (history_chats.anchor_at IS NULL AND excluded.anchor_at IS NOT NULL)`,
        ),
    )
  return {
    instanceExists: toStatement(engine === 'postgres' ? found.forKeyShare() : found).sql,
    keepChat: toStatement(keepChat).sql,
    keepMessages: { one: insert(1), many: insert(rowsPerStatement) },
  }
}

function valuesOf(instance: InstanceName, row: NewHistoryRow): (Scalar | Secret)[] {
  const { id, chatJid, participant, position, event } = row
  const place = placeOf(historyMessageSecrets.table, [id], 'event')
  const sealed = { seal: Buffer.from(JSON.stringify(event)), place }
  return [id, instance, chatJid, event.id, participant, event.kind, event.at, position, sealed]
}

function chatValues(instance: InstanceName, jid: Jid, anchor: Anchor | undefined): Scalar[] {
  return [instance, jid, anchor ? JSON.stringify(anchor.key) : null, anchor?.at ?? null]
}
