// The part of the message map that says which choices a chat was offered.

import { sql } from 'kysely'
import type { ChatId, InstanceName, NetworkMessageId } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import { messageMapSecrets } from '../../schema/messages.ts'
import type { MappedContent } from './message-map-store.ts'

/** Our newest message in a chat. `choices` are the titles of the choices that it offers. */
type Offer = { networkId: NetworkMessageId; networkAt: number; claimedAt: number; choices: readonly string[] }

export class OfferStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** At most `limit` chats that were offered choices since then. */
  async chatsWithOffers(instance: InstanceName, since: number, limit: number): Promise<ChatId[]> {
    const query = this.#database.query
      .selectFrom('message_map')
      .select('chat')
      .distinct()
      .where('instance', '=', instance)
      .where('claimed_at', '>=', since)
      // In the text of the statement, so that the index with this condition is used.
      .where('has_choices', '=', sql.lit(1))
    return (await this.#database.read(query.limit(limit))).map(({ chat }) => chat)
  }

  /**
   * The newest message that an agent or the owner had sent to the chat at that time by the clock of the network. Messages
   * that were stored before `since` do not count.
   */
  async newest(instance: InstanceName, chatId: ChatId, at: number, since: number): Promise<Offer | undefined> {
    const query = this.#database.query
      .selectFrom('message_map')
      .select(['id', 'network_id', 'network_at', 'claimed_at', 'has_choices', 'content'])
      .where('instance', '=', instance)
      .where('chat', '=', chatId)
      .where('direction', 'in', ['out', 'echo'])
      .where('claimed_at', '>=', since)
      .where('network_at', '<=', at)
      // A reaction, an edit or a deletion is no further message.
      .where('kind', 'in', ['message', 'undecryptable'])
    const newest = query.orderBy('network_at', 'desc').orderBy('claimed_at', 'desc').orderBy('id', 'desc').limit(1)
    const [row] = await this.#database.read(newest, messageMapSecrets)
    if (!row) return undefined
    const content = row.content && (JSON.parse(Buffer.from(row.content).toString('utf8')) as MappedContent)
    const { network_id: networkId, network_at: networkAt, claimed_at: claimedAt } = row
    const choices = (row.has_choices === 1 && content?.choices) || []
    return { networkId, networkAt, claimedAt, choices }
  }
}
