// What sending needs of the message map: where a chat was last heard of, what may be marked read, and what we sent.

import { sql } from 'kysely'
import type { MessageKey } from '../../../core/message.ts'
import { compileOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'
import type { MappedContent } from './message-map-store.ts'
import { messageMapSecrets } from '../../schema/messages.ts'
import { placeOf } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

export type SentMessage = {
  id: string
  instance: string
  destination: string
  chat: string
  networkKey: MessageKey
  kind: string
  conversationId: number | null
  messageId: number | null
  content: MappedContent
  at: number
}

export type UnreadMessage = { id: string; instance: string; networkKey: MessageKey }

export class SentMessageStore {
  readonly #database: Database
  readonly #writer: FencedWriter
  readonly #insert: ReturnType<typeof compileInsert>

  constructor(database: Database, epoch: () => number) {
    this.#database = database
    this.#writer = new FencedWriter(database, epoch)
    this.#insert = compileInsert(database)
  }

  /** As a step, so that a message is known in the same commit as it is sent. */
  insertStep(sent: SentMessage): Statement {
    const { id, instance, destination, chat, networkKey, kind, at } = sent
    const place = placeOf(messageMapSecrets.table, [id], 'content')
    return this.#insert({
      ...{ id, instance, destination, chat, kind },
      network_id: networkKey.id,
      network_key: JSON.stringify(networkKey),
      network_at: at,
      conversation_id: sent.conversationId,
      message_id: sent.messageId,
      claimed_at: at,
      content: { seal: Buffer.from(JSON.stringify(sent.content)), place },
    })
  }

  /** The address under which the other side of a chat last wrote; undefined when it never did. */
  async lastAddress(instance: string, chat: string): Promise<string | undefined> {
    const query = this.#database.query
      .selectFrom('message_map')
      .select('network_key')
      .where('instance', '=', instance)
      .where('chat', '=', chat)
      .where('direction', '=', incoming)
    const [row] = await this.#database.read(query.orderBy('claimed_at', 'desc').limit(1))
    return row && addressIn(row.network_key)
  }

  /** Whether anything was ever said in this chat, by whomever. */
  async isKnown(instance: string, chat: string): Promise<boolean> {
    const query = this.#database.query
      .selectFrom('message_map')
      .select('id')
      .where('instance', '=', instance)
      .where('chat', '=', chat)
    return (await this.#database.read(query.limit(1))).length > 0
  }

  /** Messages of others in a conversation that were posted until then and are not marked read. */
  async unread(destination: string, conversationId: number, until: number, limit: number): Promise<UnreadMessage[]> {
    const query = unreadIn(this.#database.query, destination, conversationId)
      .select(['id', 'instance', 'network_key'])
      .where('claimed_at', '<=', until)
    const rows = await this.#database.read(query.orderBy('id').limit(limit))
    return rows.map(({ id, instance, network_key }) => ({
      id,
      instance,
      networkKey: JSON.parse(network_key) as MessageKey,
    }))
  }

  /** What a message of ours says now. */
  async saveContent(id: string, content: MappedContent): Promise<void> {
    const place = placeOf(messageMapSecrets.table, [id], 'content')
    const update = this.#database.query
      .updateTable('message_map')
      .set({ content: { seal: Buffer.from(JSON.stringify(content)), place } })
    await this.#writer.write(update.where('id', '=', id))
  }

  async markRead(ids: readonly string[], at: number): Promise<void> {
    if (ids.length === 0) return
    const update = this.#database.query.updateTable('message_map').set({ read_at: at }).where('id', 'in', ids)
    await this.#writer.write(update.where('read_at', 'is', null))
  }
}

// In the text of the statement: SQLite plans one anew each time it is run when a partial index depends on a parameter of it.
export const incoming = sql.lit('in' as const)

export function addressIn(networkKey: string): string {
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

export function unreadIn(query: Database['query'], destination: string, conversationId: number) {
  return query
    .selectFrom('message_map')
    .where('destination', '=', destination)
    .where('conversation_id', '=', conversationId)
    .where('direction', '=', incoming)
    .where('kind', '=', 'message')
    .where('read_at', 'is', null)
    .where('message_id', 'is not', null)
}
