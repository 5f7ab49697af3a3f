// Stores what we know of the contacts at the helpdesk, and which conversation belongs to which chat.

import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { ChatId, DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { Hold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'
import type { ContactTable, ConversationTable } from '../../schema/people.ts'
import { rememberOpened } from './conversation-chats.ts'
import { endOpening } from './opening-store.ts'

export type KnownContact = {
  sourceId: string
  contactId: number
  /** Whether we created the contact. */
  ours: boolean
  /** The name that the contact had when we looked last. */
  name: string
  /** The name that we wrote last; null when we never named the contact, or named it before such names were stored. */
  givenName: string | null
  /** A name that we began to write. The helpdesk may have it or not. */
  renamingTo: string | null
}

/** A contact to store. Without a given name, a name that was given to the same contact before stays known. */
export type SavedContact = Omit<KnownContact, 'renamingTo' | 'givenName'> & {
  givenName?: string | null
}

/** The names of a person as one account knows them. */
export type ContactPerson = { instance: InstanceName; chat: ChatId; pushName: string | null; savedName: string | null }

export type KnownConversation = { conversationId: number; contactId: number; sourceId: string }
export type ConversationKey = { instance: InstanceName; destination: DestinationKey; chat: ChatId }

export class ContactStore {
  readonly #database: Database
  readonly #fence: Fence

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
  }

  async findContacts(destination: DestinationKey, sourceIds: readonly string[]): Promise<KnownContact[]> {
    if (sourceIds.length === 0) return []
    const query = this.#database.query.selectFrom('contacts').selectAll()
    const rows = await this.#database.read(
      query.where('destination', '=', destination).where('source_id', 'in', sourceIds),
    )
    return rows.map(toContact)
  }

  async saveContact(hold: Hold, destination: DestinationKey, contact: SavedContact): Promise<void> {
    const { sourceId, contactId, ours, name, givenName: given_name = null } = contact
    const columns = { contact_id: contactId, ours: ours ? 1 : 0, name }
    const isSame = sql`contacts.contact_id = excluded.contact_id`
    const kept = {
      // Of two accounts that needed the contact at once, one has created it and the other one has found it.
      ours: sql<number>`CASE WHEN ${isSame} AND contacts.ours = 1 THEN 1 ELSE excluded.ours END`,
      given_name: sql<string | null>`CASE WHEN ${isSame} THEN coalesce(excluded.given_name, contacts.given_name)
                                          ELSE excluded.given_name END`,
      renaming_to: sql<string | null>`CASE WHEN ${isSame} THEN contacts.renaming_to END`,
    }
    const insert = this.#database.query
      .insertInto('contacts')
      .values({ destination, source_id: sourceId, given_name, ...columns })
      .onConflict((conflict) => conflict.columns(['destination', 'source_id']).doUpdateSet({ ...columns, ...kept }))
    await this.#database.write(this.#fence(hold), insert)
  }

  /** Stores the name that the contact has and the one that we are about to write. After a lost answer it may have either. */
  async beginRename(
    hold: Hold,
    destination: DestinationKey,
    contactId: number,
    { from, to }: { from: string; to: string },
  ): Promise<void> {
    const begun = { given_name: from, renaming_to: to }
    await this.#database.write(this.#fence(hold), this.#ofContact(destination, contactId).set(begun))
  }

  /** The contact has the name that we wrote. */
  async endRename(hold: Hold, destination: DestinationKey, contactId: number, name: string): Promise<void> {
    const named = { name, given_name: name, renaming_to: null }
    await this.#database.write(this.#fence(hold), this.#ofContact(destination, contactId).set(named))
  }

  #ofContact(destination: DestinationKey, contactId: number) {
    const update = this.#database.query.updateTable('contacts')
    return update.where('destination', '=', destination).where('contact_id', '=', contactId)
  }

  /** What the accounts that talk with this contact know of the names of its person. */
  async peopleOf(destination: DestinationKey, contactId: number): Promise<ContactPerson[]> {
    const query = this.#database.query
      .selectFrom('conversations')
      .innerJoin('people', (join) =>
        join.onRef('people.instance', '=', 'conversations.instance').onRef('people.id', '=', 'conversations.chat'),
      )
      .select(['people.instance', 'people.id', 'people.push_name', 'people.saved_name'])
      .where('conversations.destination', '=', destination)
      .where('conversations.contact_id', '=', contactId)
      .orderBy('people.instance')
    return (await this.#database.read(query)).map(({ instance, id, push_name, saved_name }) => ({
      ...{ instance, chat: id, pushName: push_name, savedName: saved_name },
    }))
  }

  async dropContact(hold: Hold, destination: DestinationKey, sourceId: string): Promise<void> {
    const removal = this.#database.query.deleteFrom('contacts').where('destination', '=', destination)
    await this.#database.write(this.#fence(hold), removal.where('source_id', '=', sourceId))
  }

  /** The conversations that we have used with the contact: those of its chats, current and earlier ones. */
  async conversationsOf(destination: DestinationKey, contactId: number): Promise<number[]> {
    const current = this.#database.query
      .selectFrom('conversations')
      .select(['instance', 'chat', 'conversation_id'])
      .where('destination', '=', destination)
      .where('contact_id', '=', contactId)
    const chats = await this.#database.read(current)
    const shown = (await Promise.all(chats.map((chat) => this.#shownOf(chat)))).flat()
    const earlier = shown.filter((row) => row.destination === destination)
    return [...new Set([...chats, ...earlier].map(({ conversation_id }) => conversation_id))]
  }

  /** Of all destinations: with a condition on the destination, SQLite would read all chats of that destination. */
  #shownOf({ instance, chat }: Pick<ConversationKey, 'instance' | 'chat'>) {
    const query = this.#database.query.selectFrom('conversation_chats').select(['destination', 'conversation_id'])
    return this.#database.read(query.where('instance', '=', instance).where('chat', '=', chat))
  }

  /**
   * Two contacts became one: every reference to `drop` becomes one to `keep`. What we know of the origin and the name of `keep`
   * stands in its own row. The picture of `drop` is gone with it.
   */
  async mergeContacts(hold: Hold, destination: DestinationKey, { keep, drop }: { keep: number; drop: number }) {
    const { query } = this.#database
    const at = { contact_id: keep }
    await this.#database.write(
      this.#fence(hold),
      this.#ofContact(destination, drop).set({ ...at, ours: 0, given_name: null, renaming_to: null }),
      query.updateTable('conversations').set(at).where('destination', '=', destination).where('contact_id', '=', drop),
      query.deleteFrom('contact_pictures').where('destination', '=', destination).where('contact_id', '=', drop),
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
  async saveConversation(hold: Hold, key: ConversationKey, known: KnownConversation, usedAt: number) {
    const { conversationId, contactId, sourceId } = known
    const columns = { conversation_id: conversationId, contact_id: contactId, source_id: sourceId, used_at: usedAt }
    await this.#database.write(
      this.#fence(hold),
      this.#database.query
        .insertInto('conversations')
        .values({ ...key, ...columns })
        .onConflict((conflict) => conflict.columns(['instance', 'destination', 'chat']).doUpdateSet(columns)),
      rememberOpened(this.#database.query, { ...key, conversation_id: conversationId, used_at: usedAt }),
      endOpening(this.#database.query, { ...key, sourceId }),
    )
  }

  /**
   * Conversations with this contact in the same helpdesk inbox that are not for the new messages of the chat: those of other
   * accounts, and those that hold only history, of any account.
   */
  async excludedConversations(key: ConversationKey, sourceId: string): Promise<number[]> {
    const query = this.#database.query
      .selectFrom('conversations')
      .select(['instance', 'chat', 'conversation_id'])
      .where('destination', '=', key.destination)
      .where('source_id', '=', sourceId)
      .where('instance', '!=', key.instance)
    const others = await this.#database.read(query)
    const history = [key, ...others].map((chat) => this.#historyOf({ ...chat, destination: key.destination }))
    const excluded = [others, ...(await Promise.all(history))].flat()
    return [...new Set(excluded.map(({ conversation_id }) => conversation_id))]
  }

  #historyOf({ destination, instance, chat }: ConversationKey) {
    const query = this.#database.query
      .selectFrom('conversation_chats')
      .select('conversation_id')
      .where('instance', '=', instance)
      .where('chat', '=', chat)
    return this.#database.read(query.where('destination', '=', destination).where('is_history', '=', 1))
  }

  /** Those of the conversations that were shown to other accounts and never to this one. */
  async shownToOthersOnly(
    destination: DestinationKey,
    instance: InstanceName,
    conversationIds: readonly number[],
  ): Promise<number[]> {
    if (conversationIds.length === 0) return []
    const query = this.#database.query
      .selectFrom('conversation_chats')
      .select(['conversation_id', 'instance'])
      .distinct()
      .where('destination', '=', destination)
      .where('conversation_id', 'in', conversationIds)
    const shown = Map.groupBy(await this.#database.read(query), (row) => row.conversation_id)
    return [...shown].flatMap(([id, rows]) => (rows.some((row) => row.instance === instance) ? [] : [id]))
  }

  async dropConversation(hold: Hold, key: ConversationKey): Promise<void> {
    const removal = this.#database.query
      .deleteFrom('conversations')
      .where('instance', '=', key.instance)
      .where('destination', '=', key.destination)
      .where('chat', '=', key.chat)
    await this.#database.write(this.#fence(hold), removal)
  }
}

function toContact(row: Selectable<ContactTable>): KnownContact {
  return {
    sourceId: row.source_id,
    contactId: row.contact_id,
    ours: row.ours === 1,
    name: row.name,
    givenName: row.given_name,
    renamingTo: row.renaming_to,
  }
}

function toConversation(row: Selectable<ConversationTable>): KnownConversation {
  return { conversationId: row.conversation_id, contactId: row.contact_id, sourceId: row.source_id }
}
