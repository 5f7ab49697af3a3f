// Stores the people of an account: one record for the phone number and the anonymous id of the same person.

import type { Selectable } from 'kysely'
import type { Person } from '../../../core/address.ts'
import type { ChatId, InstanceName } from '../../../core/ids.ts'
import type { Hold, NodeHold } from '../../../core/nodes/hold.ts'
import { compileReadOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { existingInstance } from '../accounts/existing-instance.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'
import type { PersonTable } from '../../schema/people.ts'
import { moveChats } from './conversation-chats.ts'

export type PersonRecord = Person & {
  id: ChatId
  pushName: string | null
  savedName: string | null
  /** Numbers that the person had before and that no other person has now. */
  formerPhones: readonly string[]
}
export type PersonChanges = Partial<Omit<PersonRecord, 'id' | 'formerPhones'>>

/** How many people one statement looks for: an engine takes 32,766 values at most. */
const peopleAtOnce = 2000

export class PeopleStore {
  readonly #database: Database
  readonly #fence: Fence
  readonly #find: ReturnType<typeof compileFind>

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
    this.#find = compileFind(database)
  }

  /** The records with this phone number, now or before, or with this anonymous id. */
  async find(instance: InstanceName, { phone, lid }: Person): Promise<PersonRecord[]> {
    return toRecords(await this.#database.read(this.#find({ instance, phone, lid })))
  }

  /** The records with one of these phone numbers, or with one of these anonymous ids. Former phone numbers do not count. */
  async findAll(instance: InstanceName, people: readonly Person[]): Promise<PersonRecord[]> {
    const records: PersonRecord[] = []
    for (let from = 0; from < people.length; from += peopleAtOnce) {
      records.push(...(await this.#findSome(instance, people.slice(from, from + peopleAtOnce))))
    }
    return records
  }

  async #findSome(instance: InstanceName, people: readonly Person[]): Promise<PersonRecord[]> {
    const own = this.#database.query.selectFrom('people').select('id').where('instance', '=', instance)
    // PostgreSQL takes no empty list.
    const phones = [null, ...people.map(({ phone }) => phone)]
    const lids = [null, ...people.map(({ lid }) => lid)]
    const ids = own.where('phone', 'in', phones).unionAll(own.where('lid', 'in', lids))
    return toRecords(await this.#database.read(this.#records(instance).where('people.id', 'in', ids)))
  }

  async findById(instance: InstanceName, id: ChatId): Promise<PersonRecord | undefined> {
    return toRecords(await this.#database.read(this.#records(instance).where('people.id', '=', id)))[0]
  }

  /** The ids of the people after that one, at most `limit` of them, in order. */
  async page(instance: InstanceName, after: ChatId, limit: number): Promise<ChatId[]> {
    const all = this.#database.query.selectFrom('people').select('id').where('instance', '=', instance)
    const rows = await this.#database.read(all.where('id', '>', after).orderBy('id').limit(limit))
    return rows.map(({ id }) => id)
  }

  /** How many people have a name. `savedOnly`: one of the address book. */
  async countNamed(instance: InstanceName, { savedOnly }: { savedOnly: boolean }): Promise<number> {
    const named = this.#named(instance, savedOnly).select(({ fn }) => fn.countAll().as('count'))
    const [row] = await this.#database.read(named)
    return Number(row?.count ?? 0)
  }

  /** As page(), of the people who have a name. */
  async namedPage(
    instance: InstanceName,
    { savedOnly, after, limit }: { savedOnly: boolean; after: ChatId; limit: number },
  ): Promise<ChatId[]> {
    const named = this.#named(instance, savedOnly).select('id')
    const rows = await this.#database.read(named.where('id', '>', after).orderBy('id').limit(limit))
    return rows.map(({ id }) => id)
  }

  #named(instance: InstanceName, savedOnly: boolean) {
    const all = this.#database.query.selectFrom('people').where('instance', '=', instance)
    return all.where((eb) =>
      eb.or([eb('saved_name', 'is not', null), ...(savedOnly ? [] : [eb('push_name', 'is not', null)])]),
    )
  }

  /** Rejects with a constraint failure when another record has the phone number or the anonymous id by now. */
  async insert(hold: Hold, person: PersonRecord): Promise<void> {
    const { instance } = hold
    const { id, phone, lid, pushName: push_name, savedName: saved_name } = person
    const row = { instance, id, phone, lid, push_name, saved_name }
    const insert = this.#database.query.insertInto('people').values(row)
    await this.#database.write(this.#fence(hold), insert, ...this.#taken(instance, phone))
  }

  /**
   * For a node that does not hold the instance. Stores nothing when another record has the phone number or the anonymous id by
   * now. The write is undone when there is no such instance.
   */
  async insertUnlessKnown(hold: NodeHold, instance: InstanceName, { id, phone, lid }: PersonRecord): Promise<void> {
    const row = { instance, id, phone, lid, push_name: null, saved_name: null }
    const insert = this.#database.query.insertInto('people').values(row)
    const exists = existingInstance(this.#database, instance)
    await this.#database.write(
      this.#fence(hold),
      exists,
      insert.onConflict((conflict) => conflict.doNothing()),
    )
  }

  /** `formerPhone` is the number that a new one replaces. It goes on leading to the person. */
  async update(hold: Hold, id: ChatId, changes: PersonChanges, formerPhone: string | null = null): Promise<void> {
    const { instance } = hold
    const { phone, lid, pushName, savedName } = changes
    const columns = {
      ...(phone !== undefined && { phone }),
      ...(lid !== undefined && { lid }),
      ...(pushName !== undefined && { push_name: pushName }),
      ...(savedName !== undefined && { saved_name: savedName }),
    }
    const update = this.#database.query.updateTable('people').set(columns)
    await this.#database.write(
      this.#fence(hold),
      update.where('instance', '=', instance).where('id', '=', id),
      ...this.#former(instance, id, formerPhone),
      ...this.#taken(instance, phone ?? null),
    )
  }

  #records(instance: InstanceName) {
    return recordsOf(this.#database.query, instance)
  }

  #former(instance: InstanceName, person: ChatId, phone: string | null) {
    if (phone === null) return []
    const insert = this.#database.query.insertInto('person_phones').values({ instance, phone, person })
    return [insert.onConflict((conflict) => conflict.columns(['instance', 'phone']).doUpdateSet({ person }))]
  }

  /** A person has this number now, so it leads to no other person. */
  #taken(instance: InstanceName, phone: string | null) {
    if (phone === null) return []
    const removal = this.#database.query.deleteFrom('person_phones').where('instance', '=', instance)
    return [removal.where('phone', '=', phone)]
  }

  /**
   * Two records turned out to be one person. Conversations and messages of `drop` become those of `keep`, all or nothing.
   * Where both have one, that of `keep` stays.
   */
  async merge(
    hold: Hold,
    keep: PersonRecord,
    { id: drop, phone: droppedPhone }: Pick<PersonRecord, 'id' | 'phone'>,
  ): Promise<void> {
    const { query } = this.#database
    const { instance } = hold
    const { id, phone, lid, pushName, savedName } = keep
    await this.#database.write(
      this.#fence(hold),
      query.deleteFrom('people').where('instance', '=', instance).where('id', '=', drop),
      query
        .updateTable('people')
        .set({ phone, lid, push_name: pushName, saved_name: savedName })
        .where('instance', '=', instance)
        .where('id', '=', id),
      query
        .updateTable('person_phones')
        .set({ person: id })
        .where('instance', '=', instance)
        .where('person', '=', drop),
      ...this.#former(instance, id, droppedPhone),
      ...this.#taken(instance, phone),
      ...this.#moveConversations(instance, id, drop),
      ...moveChats(query, instance, id, drop),
      query.deleteFrom('label_agreements').where('instance', '=', instance).where('chat', '=', drop),
      ...this.#moveMessages(instance, 'chat', id, drop),
      ...this.#moveMessages(instance, 'sender', id, drop),
      query.updateTable('outbox').set({ chat: id }).where('instance', '=', instance).where('chat', '=', drop),
    )
  }

  #moveConversations(instance: InstanceName, keep: string, drop: string) {
    const { query } = this.#database
    const kept = query.selectFrom('conversations').select('destination')
    const taken = kept.where('instance', '=', instance).where('chat', '=', keep)
    const dropped = query.deleteFrom('conversations').where('instance', '=', instance).where('chat', '=', drop)
    return [
      dropped.where('destination', 'in', taken),
      query.updateTable('conversations').set({ chat: keep }).where('instance', '=', instance).where('chat', '=', drop),
    ]
  }

  // The same message may have come under both addresses. Then the row of the kept record stays.
  #moveMessages(instance: InstanceName, column: 'chat' | 'sender', keep: string, drop: string) {
    const { query } = this.#database
    const other = column === 'chat' ? 'sender' : 'chat'
    const twins = query
      .selectFrom('message_map as own')
      .innerJoin('message_map as twin', (join) =>
        join
          .onRef('twin.instance', '=', 'own.instance')
          .onRef('twin.destination', '=', 'own.destination')
          .onRef('twin.network_id', '=', 'own.network_id')
          .onRef('twin.kind', '=', 'own.kind')
          .onRef(`twin.${other}`, '=', `own.${other}`)
          .on(`twin.${column}`, '=', keep),
      )
      .select('own.id')
      .where('own.instance', '=', instance)
      .where(`own.${column}`, '=', drop)
    const doubled = query.deleteFrom('message_map').where('id', 'in', twins)
    const moved = query.updateTable('message_map').set({ [column]: keep })
    return [doubled, moved.where('instance', '=', instance).where(column, '=', drop)]
  }
}

function compileFind({ query }: Database) {
  return compileReadOnce(['instance', 'phone', 'lid'], ({ instance, phone, lid }) => {
    // A part for each index. With an OR over the three, SQLite would read all people of the instance.
    const own = query.selectFrom('people').select('id').where('instance', '=', instance)
    const former = query.selectFrom('person_phones').select('person as id').where('instance', '=', instance)
    const ids = own
      .where('phone', '=', phone)
      .unionAll(own.where('lid', '=', lid))
      .unionAll(former.where('phone', '=', phone))
    return recordsOf(query, instance).where('people.id', 'in', ids)
  })
}

/** One row for each former phone number, and one row for a person without any. */
function recordsOf(query: Database['query'], instance: InstanceName) {
  return query
    .selectFrom('people')
    .leftJoin('person_phones as former', (join) =>
      join.onRef('former.instance', '=', 'people.instance').onRef('former.person', '=', 'people.id'),
    )
    .select(['people.id', 'people.phone', 'people.lid', 'people.push_name', 'people.saved_name'])
    .select('former.phone as former_phone')
    .where('people.instance', '=', instance)
    .orderBy('former.phone')
}

type RecordRow = Omit<Selectable<PersonTable>, 'instance'> & { former_phone: string | null }

function toRecords(rows: readonly RecordRow[]): PersonRecord[] {
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap(([row, ...more]) => {
    if (!row) return []
    const { id, phone, lid, push_name, saved_name } = row
    const formerPhones = [row, ...more].flatMap(({ former_phone }) => former_phone ?? [])
    return [{ id, phone, lid, pushName: push_name, savedName: saved_name, formerPhones }]
  })
}
