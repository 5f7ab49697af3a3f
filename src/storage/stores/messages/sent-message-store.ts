// The part of the message map that sending uses: the last address of a chat, the unread messages, and the messages we sent.

import { sql } from 'kysely'
import type { ChatId, DestinationKey, InstanceName, Jid, RowId } from '../../../core/ids.ts'
import type { MessageKey } from '../../../core/message.ts'
import type { HoldOf } from '../../../core/nodes/hold.ts'
import { compileOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'
import type { MappedContent } from './message-map-store.ts'
import { messageMapSecrets } from '../../schema/messages.ts'
import { placeOf, toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

export type SentMessage = {
  id: RowId
  instance: InstanceName
  destination: DestinationKey
  chatId: ChatId
  networkKey: MessageKey
  kind: string
  conversationId: number | null
  messageId: number | null
  content: MappedContent
  /** When it was sent, by our clock and by the clock of the network. */
  at: number
  networkAt: number
}

export type UnreadMessage = { id: RowId; instance: InstanceName; networkKey: MessageKey }

export class SentMessageStore {
  readonly #database: Database
  readonly #writer: FencedWriter
  readonly #insert: ReturnType<typeof compileInsert>

  constructor(database: Database, holdOf: HoldOf) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
    this.#insert = compileInsert(database)
  }

  /** A statement for the commit that marks the message sent. */
  insertStep(sent: SentMessage): Statement {
    const { id, instance, destination, chatId, networkKey, kind, at, networkAt } = sent
    const place = placeOf(messageMapSecrets.table, [id], 'content')
    return this.#insert({
      id,
      instance,
      destination,
      chat: chatId,
      kind,
      network_id: networkKey.id,
      network_key: JSON.stringify(networkKey),
      network_at: networkAt,
      conversation_id: sent.conversationId,
      message_id: sent.messageId,
      claimed_at: at,
      has_choices: sent.content.choices ? 1 : null,
      content: { seal: Buffer.from(JSON.stringify(sent.content)), place },
    })
  }

  /** A statement for the commit that marks the deletion of a message sent: its choices are not offered any more. */
  withdrawStep(destination: DestinationKey, messageId: number): Statement {
    const update = this.#database.query
      .updateTable('message_map')
      .set({ has_choices: null })
      .where('destination', '=', destination)
      .where('message_id', '=', messageId)
    return toStatement(update.where('has_choices', '=', 1))
  }

  /** The address from which the chat last wrote to us; undefined when it never did. */
  async lastAddress(instance: InstanceName, chatId: ChatId): Promise<Jid | undefined> {
    const query = this.#database.query
      .selectFrom('message_map')
      .select('network_key')
      .where('instance', '=', instance)
      .where('chat', '=', chatId)
      .where('direction', '=', incoming)
    const [row] = await this.#database.read(query.orderBy('claimed_at', 'desc').limit(1))
    return row && addressIn(row.network_key)
  }

  /** Whether the chat has any message, of either side. */
  async isKnown(instance: InstanceName, chatId: ChatId): Promise<boolean> {
    const query = this.#database.query
      .selectFrom('message_map')
      .select('id')
      .where('instance', '=', instance)
      .where('chat', '=', chatId)
    return (await this.#database.read(query.limit(1))).length > 0
  }

  /** To how many people the first message of their chat was sent since then. */
  async countFirstContacts(instance: InstanceName, since: number): Promise<number> {
    const { query } = this.#database
    const first = query
      .selectFrom('message_map as sent')
      .select(({ fn }) => fn.count<number>('sent.chat').distinct().as('count'))
      .where('sent.claimed_at', '>', since)
      // Not the column alone: SQLite would read all rows of the instance instead of the rows since then.
      .where(sql`sent.instance || ''`, '=', instance)
      .where('sent.direction', '=', 'out')
      .where('sent.chat', 'not like', '%@g.us')
      .where((row) =>
        row.not(
          row.exists(
            row
              .selectFrom('message_map as earlier')
              .select('earlier.id')
              .whereRef('earlier.instance', '=', 'sent.instance')
              .whereRef('earlier.chat', '=', 'sent.chat')
              .whereRef('earlier.claimed_at', '<', 'sent.claimed_at'),
          ),
        ),
      )
    return (await this.#database.read(first))[0]?.count ?? 0
  }

  /**
   * Incoming messages of a conversation that were posted until then and are not marked read. `isPosting` says that another one
   * is being posted: the helpdesk may show it already.
   */
  async unread(
    destination: DestinationKey,
    conversationId: number,
    until: number,
    limit: number,
  ): Promise<{ messages: UnreadMessage[]; isPosting: boolean }> {
    const query = unreadIn(this.#database.query, destination, conversationId)
      .select(['id', 'instance', 'network_key', 'message_id'])
      .where('claimed_at', '<=', until)
    // The messages that are being posted come last.
    const ordered = query.orderBy('posting_since', (order) => order.asc().nullsFirst()).orderBy('id')
    const rows = await this.#database.read(ordered.limit(limit))
    const posted = rows.filter(({ message_id }) => message_id !== null)
    const messages = posted.map(({ id, instance, network_key }) => ({
      id,
      instance,
      networkKey: JSON.parse(network_key) as MessageKey,
    }))
    return { messages, isPosting: posted.length < rows.length }
  }

  async saveContent(instance: InstanceName, id: RowId, content: MappedContent): Promise<void> {
    const place = placeOf(messageMapSecrets.table, [id], 'content')
    const update = this.#database.query
      .updateTable('message_map')
      .set({ content: { seal: Buffer.from(JSON.stringify(content)), place } })
    await this.#writer.write(instance, update.where('id', '=', id))
  }

  async markRead(instance: InstanceName, ids: readonly RowId[], at: number): Promise<void> {
    if (ids.length === 0) return
    const update = this.#database.query.updateTable('message_map').set({ read_at: at }).where('id', 'in', ids)
    await this.#writer.write(instance, update.where('read_at', 'is', null))
  }
}

// In the text of the statement, like the kind of unread messages: SQLite plans a statement anew at each run when a partial
// index depends on a parameter.
export const incoming = sql.lit('in' as const)

export function addressIn(networkKey: string): Jid {
  return (JSON.parse(networkKey) as MessageKey).chat
}

const insertedColumns = [
  'id',
  'instance',
  'destination',
  'chat',
  'network_id',
  'kind',
  'network_key',
  'network_at',
  'conversation_id',
  'message_id',
  'claimed_at',
  'has_choices',
  'content',
] as const

function compileInsert({ query }: Database) {
  const identity = ['instance', 'destination', 'chat', 'sender', 'network_id', 'kind'] as const
  return compileOnce(insertedColumns, (value) =>
    query
      .insertInto('message_map')
      .values({ ...value, sender: 'me', direction: 'out' })
      .onConflict((conflict) => conflict.columns(identity).doNothing()),
  )
}

/** Also those that are being posted, which the helpdesk may show already. */
export function unreadIn(query: Database['query'], destination: string, conversationId: number) {
  return query
    .selectFrom('message_map')
    .where('destination', '=', destination)
    .where('conversation_id', '=', conversationId)
    .where('direction', '=', incoming)
    .where('kind', '=', sql.lit('message'))
    .where('read_at', 'is', null)
    .where((where) => where.or([where('message_id', 'is not', null), where('posting_since', 'is not', null)]))
}
