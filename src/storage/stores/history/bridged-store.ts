// Answers what was bridged live: the chats of an instance, and the messages of a chat that are not from its history.

import type { ChatId, DestinationKey, InstanceName, Jid } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'

/** A conversation that gets the history of a chat. `jids` are the addresses under which the phone keeps the chat. */
export type ImportedConversation = {
  instance: InstanceName
  chat: ChatId
  jids: readonly Jid[]
  destination: DestinationKey
  conversationId: number
}

export class BridgedStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Every chat of the instance that ever had a conversation. */
  async chats(instance: InstanceName): Promise<ChatId[]> {
    const query = this.#database.query.selectFrom('conversations').select('chat')
    const rows = await this.#database.read(query.where('instance', '=', instance))
    return [...new Set(rows.map(({ chat }) => chat))]
  }

  /**
   * Whether a live message of the chat was posted into the conversation since that time. `isBegun` counts a message as soon as
   * it is about to be posted. A message is live unless the import under way posted it.
   */
  async hasLive(into: ImportedConversation, since: number, { isBegun = false } = {}): Promise<boolean> {
    const { instance, chat, jids, destination, conversationId } = into
    const query = this.#database.query
      .selectFrom('message_map')
      .select('id')
      .where('instance', '=', instance)
      .where('chat', '=', chat)
      .where('direction', 'in', ['in', 'echo'])
      .where('claimed_at', '>=', since)
      .where('destination', '=', destination)
      .where('conversation_id', '=', conversationId)
      .where((message) => {
        const imported = message
          .selectFrom('history_messages')
          .select('history_messages.id')
          .where('history_messages.instance', '=', instance)
          .where('history_messages.chat_jid', 'in', jids)
          .whereRef('history_messages.network_id', '=', 'message_map.network_id')
          .where('history_messages.outcome', 'in', ['posted', 'error'])
        const isLive = message.not(message.exists(imported))
        return isBegun ? isLive : message.and([isLive, message('message_id', 'is not', null)])
      })
      .limit(1)
    return (await this.#database.read(query)).length > 0
  }

  /** The network's time of the newest message of the chat in the conversation; null when none is known. */
  async newestAt({ instance, chat, destination, conversationId }: Omit<ImportedConversation, 'jids'>) {
    const [row] = await this.#database.read(
      this.#database.query
        .selectFrom('message_map')
        .select(({ fn }) => fn.max('network_at').as('at'))
        .where('instance', '=', instance)
        .where('chat', '=', chat)
        .where('destination', '=', destination)
        .where('conversation_id', '=', conversationId)
        .where('message_id', 'is not', null),
    )
    return row?.at ?? null
  }
}
