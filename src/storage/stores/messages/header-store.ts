// Stores with which header a message begins at the helpdesk, for as long as the header may be rewritten.

import type { ChatId, DestinationKey, InstanceName, NetworkMessageId, RowId } from '../../../core/ids.ts'
import type { Hold, NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { toStatement } from '../../engine/statement.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'

/** Whose messages, and at which helpdesk inbox. */
export type HeaderOwner = { instance: InstanceName; destination: DestinationKey; sender: string }

export type StoredHeader = {
  id: RowId
  chat: ChatId
  networkId: NetworkMessageId
  messageId: number
  header: string
}

export class HeaderStore {
  readonly #database: Database
  readonly #fence: Fence

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
  }

  /** The newest posted messages of the sender that begin with a header, claimed at that time or later. */
  async find(owner: HeaderOwner, since: number, limit: number): Promise<StoredHeader[]> {
    const query = this.#newest(owner).select(['id', 'chat', 'network_id', 'message_id', 'header'])
    const posted = query.where('message_id', 'is not', null).where('claimed_at', '>=', since)
    const rows = await this.#database.read(posted.limit(limit))
    return rows.flatMap(({ id, chat, network_id, message_id, header }) =>
      message_id === null || header === null
        ? []
        : [{ id, chat, networkId: network_id, messageId: message_id, header }],
    )
  }

  /** The helpdesk shows these messages with another header now. */
  async update(hold: Hold, ids: readonly RowId[], header: string): Promise<void> {
    if (ids.length === 0) return
    const update = this.#database.query.updateTable('message_map').set({ header }).where('id', 'in', ids)
    await this.#database.write(this.#fence(hold), update)
  }

  /** Forgets at most `limit` headers that were claimed before that time. Returns how many there were. */
  async prune(hold: NodeHold, before: number, limit: number): Promise<number> {
    const { query } = this.#database
    const old = query.selectFrom('message_map').select('id').where('header', 'is not', null)
    const ids = old.where('claimed_at', '<', before).limit(limit)
    return this.#run(hold, this.#forgetting().where('id', 'in', ids))
  }

  /** Forgets at most `limit` headers of the sender beyond the newest `kept`. Returns how many there were. */
  async trim(hold: Hold, owner: HeaderOwner, kept: number, limit: number): Promise<number> {
    const ids = this.#newest(owner).select('id').limit(limit).offset(kept)
    return this.#run(hold, this.#forgetting().where('id', 'in', ids))
  }

  #newest({ instance, destination, sender }: HeaderOwner) {
    return this.#database.query
      .selectFrom('message_map')
      .where('instance', '=', instance)
      .where('destination', '=', destination)
      .where('sender', '=', sender)
      .where('header', 'is not', null)
      .orderBy('claimed_at', 'desc')
  }

  #forgetting() {
    return this.#database.query.updateTable('message_map').set({ header: null })
  }

  async #run(hold: Hold | NodeHold, update: Parameters<typeof toStatement>[0]): Promise<number> {
    const [, changed] = await this.#database.write(this.#fence(hold), toStatement(update))
    return changed ?? 0
  }
}
