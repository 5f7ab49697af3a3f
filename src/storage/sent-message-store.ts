// What sending needs of the message map: where a chat was last heard of, what may be marked read, and what we sent.

import type { MessageKey } from '../core/message.ts'
import type { Database } from './database.ts'
import { FencedWriter } from './fenced-writer.ts'
import type { MappedContent } from './message-map-store.ts'
import { messageMapSecrets } from './schema.ts'
import { placeOf, toStatement } from './statement.ts'
import type { Statement } from './statement.ts'

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

  constructor(database: Database, epoch: () => number) {
    this.#database = database
    this.#writer = new FencedWriter(database, epoch)
  }

  /** As a step, so that a message is known in the same commit as it is sent. */
  insertStep(sent: SentMessage): Statement {
    const { id, instance, destination, chat, networkKey, kind, conversationId, messageId, content, at } = sent
    const insert = this.#database.query.insertInto('message_map').values({
      id,
      instance,
      destination,
      chat,
      sender: 'me',
      network_id: networkKey.id,
      kind,
      direction: 'out',
      network_key: JSON.stringify(networkKey),
      network_at: at,
      conversation_id: conversationId,
      message_id: messageId,
      claimed_at: at,
      content: { seal: Buffer.from(JSON.stringify(content)), place: placeOf(messageMapSecrets.table, [id], 'content') },
    })
    const identity = ['instance', 'destination', 'chat', 'sender', 'network_id', 'kind'] as const
    return toStatement(insert.onConflict((conflict) => conflict.columns(identity).doNothing()))
  }

  /** The address under which the other side of a chat last wrote; undefined when it never did. */
  async lastAddress(instance: string, chat: string): Promise<string | undefined> {
    const query = this.#database.query
      .selectFrom('message_map')
      .select('network_key')
      .where('instance', '=', instance)
      .where('chat', '=', chat)
      .where('direction', '=', 'in')
    const [row] = await this.#database.read(query.orderBy('claimed_at', 'desc').limit(1))
    return row && (JSON.parse(row.network_key) as MessageKey).chat
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
    const query = this.#database.query
      .selectFrom('message_map')
      .select(['id', 'instance', 'network_key'])
      .where('destination', '=', destination)
      .where('conversation_id', '=', conversationId)
      .where('direction', '=', 'in')
      .where('kind', '=', 'message')
      .where('read_at', 'is', null)
      .where('message_id', 'is not', null)
      .where('claimed_at', '<=', until)
    const rows = await this.#database.read(query.orderBy('id').limit(limit))
    return rows.map(({ id, instance, network_key }) => ({
      id,
      instance,
      networkKey: JSON.parse(network_key) as MessageKey,
    }))
  }

  async markRead(ids: readonly string[], at: number): Promise<void> {
    if (ids.length === 0) return
    const update = this.#database.query.updateTable('message_map').set({ read_at: at }).where('id', 'in', ids)
    await this.#writer.write(update.where('read_at', 'is', null))
  }

  /** The instance a conversation of the helpdesk belongs to. */
  async instanceOfConversation(destination: string, conversationId: number): Promise<string | undefined> {
    const query = this.#database.query
      .selectFrom('conversations')
      .select('instance')
      .where('destination', '=', destination)
      .where('conversation_id', '=', conversationId)
    const [row] = await this.#database.read(query.orderBy('used_at', 'desc').limit(1))
    return row?.instance
  }
}
