// The SQL of the message map that is written by hand or compiled once.

import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { Database } from '../../database.ts'
import { rememberChat } from '../people/conversation-chats.ts'
import { toStatement } from '../../engine/statement.ts'
import type { MessageMapTable } from '../../schema/messages.ts'

/** Everything but the content, which is sealed and rarely needed. */
export const lightColumns = [
  'id',
  'instance',
  'destination',
  'chat',
  'sender',
  'network_id',
  'kind',
  'direction',
  'network_key',
  'network_at',
  'conversation_id',
  'message_id',
  'claimed_at',
  'posting_since',
  'posting_after',
  'read_at',
] as const

export type LightRow = Pick<Selectable<MessageMapTable>, (typeof lightColumns)[number]>

/** The statements that run for every message: compiled once, only their parameters change. */
export function compileClaimStatements({ query }: Database) {
  const row = {
    id: '',
    instance: '',
    destination: '',
    chat: '',
    sender: '',
    network_id: '',
    kind: '',
    direction: 'in' as const,
    network_key: '',
    network_at: 0,
    conversation_id: 0,
    claimed_at: 0,
    posting_since: 0,
    posting_after: 0,
    read_at: 0,
    content: { seal: new Uint8Array(), place: '' },
  }
  const identity = ['instance', 'destination', 'chat', 'sender', 'network_id', 'kind'] as const
  const claim = query.insertInto('message_map').values(row)
  const related = query.selectFrom('message_map').select(lightColumns).where('instance', '=', '')
  const complete = query
    .updateTable('message_map')
    .set({ conversation_id: 0, message_id: 0, posting_since: 0, posting_after: 0, header: '' })
    // The phones may have reported the message before.
    .set({ tick_at: sql<number | null>`CASE WHEN reported IS NOT NULL THEN reported_at ELSE tick_at END` })
    .where('id', '=', '')
  return {
    noteWriter: noteWriter(query),
    claim: toStatement(claim.onConflict((conflict) => conflict.columns(identity).doNothing())).sql,
    related: toStatement(related.where('network_id', 'in', ['', '']).where('id', '!=', '').orderBy('id')).sql,
    complete: toStatement(complete).sql,
  }
}

/** The chat of a claimed incoming message has written into the conversation. Takes the id of the claim. */
function noteWriter(query: Database['query']): string {
  const written = query
    .selectFrom('message_map')
    .select(['destination', 'conversation_id', 'instance', 'chat', 'network_at', 'posting_since'])
    .where('id', '=', '')
    .where('direction', '=', sql.lit('in' as const))
    .where('conversation_id', 'is not', null)
    .where('posting_since', 'is not', null)
  return toStatement(rememberChat(query, written)).sql
}
