// Stores what we know of the contacts at the helpdesk, and which conversation belongs to which chat.

import type { Selectable } from 'kysely'
import type { ChatId, DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import { createLeaseFence } from '../lease-store.ts'
import type { ContactTable, ConversationTable } from '../../schema/people.ts'
import type { Statement } from '../../engine/statement.ts'
import { rememberOpened } from './conversation-chats.ts'

export type KnownContact = {
  sourceId: string
  contactId: number
  /** Whether we created the contact. */
  ours: boolean
  /** The name that we gave the contact last. */
  name: string
  /** When we began to open a conversation whose outcome is unknown. */
  openingSince: number | null
}

export type KnownConversation = { conversationId: number; contactId: number; sourceId: string }
export type ConversationKey = { instance: InstanceName; destination: DestinationKey; chat: ChatId }

export class ContactStore {
  readonly #database: Database
  readonly #fence: (epoch: number) => Statement

  constructor(database: Database) {
    this.#database = database
    this.#fence = createLeaseFence(database)
  }

  async findContacts(destination: DestinationKey, sourceIds: readonly string[]): Promise<KnownContact[]> {
    if (sourceIds.length === 0) return []
    const query = this.#database.query.selectFrom('contacts').selectAll()
    const rows = await this.#database.read(
      query.where('destination', '=', destination).where('source_id', 'in', sourceIds),
    )
    return rows.map(toContact)
  }

  async saveContact(
    epoch: number,
    destination: DestinationKey,
    contact: Omit<KnownContact, 'openingSince'>,
  ): Promise<void> {
    const { sourceId, contactId, ours, name } = contact
    const columns = { contact_id: contactId, ours: ours ? 1 : 0, name }
    await this.#database.write(
      this.#fence(epoch),
      this.#database.query
        .insertInto('contacts')
        .values({ destination, source_id: sourceId, ...columns })
        .onConflict((conflict) => conflict.columns(['destination', 'source_id']).doUpdateSet(columns)),
    )
  }

  /** Stores since when a conversation is being opened; null when certainly none is. */
  async noteOpening(epoch: number, destination: DestinationKey, sourceId: string, since: number | null): Promise<void> {
    await this.#database.write(this.#fence(epoch), this.#opening(destination, sourceId, since))
  }

  #opening(destination: DestinationKey, sourceId: string, since: number | null) {
    const update = this.#database.query.updateTable('contacts').set({ opening_since: since })
    return update.where('destination', '=', destination).where('source_id', '=', sourceId)
  }

  async dropContact(epoch: number, destination: DestinationKey, sourceId: string): Promise<void> {
    const removal = this.#database.query.deleteFrom('contacts').where('destination', '=', destination)
    await this.#database.write(this.#fence(epoch), removal.where('source_id', '=', sourceId))
  }

  /** Two contacts became one: every reference to `drop` becomes one to `keep`. */
  async mergeContacts(epoch: number, destination: DestinationKey, { keep, drop }: { keep: number; drop: number }) {
    const { query } = this.#database
    const at = { contact_id: keep }
    await this.#database.write(
      this.#fence(epoch),
      query.updateTable('contacts').set(at).where('destination', '=', destination).where('contact_id', '=', drop),
      query.updateTable('conversations').set(at).where('destination', '=', destination).where('contact_id', '=', drop),
    )
  }

  async findConversation(key: ConversationKey): Promise<KnownConversation | undefined> {
    const query = this.#database.query
      .selectFrom('conversations')
      .selectAll()
      .where('instance', '=', key.instance)
      .where('destination', '=', key.destination)
      .where('chat', '=', key.chat)
    const [row] = await this.#database.read(query)
    return row && toConversation(row)
  }

  /** Also ends the opening. */
  async saveConversation(epoch: number, key: ConversationKey, known: KnownConversation, usedAt: number) {
    const { conversationId, contactId, sourceId } = known
    const columns = { conversation_id: conversationId, contact_id: contactId, source_id: sourceId, used_at: usedAt }
    await this.#database.write(
      this.#fence(epoch),
      this.#database.query
        .insertInto('conversations')
        .values({ ...key, ...columns })
        .onConflict((conflict) => conflict.columns(['instance', 'destination', 'chat']).doUpdateSet(columns)),
      rememberOpened(this.#database.query, { ...key, conversation_id: conversationId, used_at: usedAt }),
      this.#opening(key.destination, sourceId, null),
    )
  }

  /** Conversations of other accounts with this contact in the same helpdesk inbox. */
  async conversationsOfOthers({ instance, destination }: ConversationKey, sourceId: string): Promise<number[]> {
    const query = this.#database.query
      .selectFrom('conversations')
      .select('conversation_id')
      .where('destination', '=', destination)
      .where('source_id', '=', sourceId)
      .where('instance', '!=', instance)
    return (await this.#database.read(query)).map(({ conversation_id }) => conversation_id)
  }

  async dropConversation(epoch: number, key: ConversationKey): Promise<void> {
    const removal = this.#database.query
      .deleteFrom('conversations')
      .where('instance', '=', key.instance)
      .where('destination', '=', key.destination)
      .where('chat', '=', key.chat)
    await this.#database.write(this.#fence(epoch), removal)
  }
}

function toContact({ source_id, contact_id, ours, name, opening_since }: Selectable<ContactTable>): KnownContact {
  return { sourceId: source_id, contactId: contact_id, ours: ours === 1, name, openingSince: opening_since }
}

function toConversation(row: Selectable<ConversationTable>): KnownConversation {
  return { conversationId: row.conversation_id, contactId: row.contact_id, sourceId: row.source_id }
}
