// Stores the people of an account: one record for the phone number and the anonymous id of the same person.

import type { Selectable } from 'kysely'
import type { Person } from '../../../core/address.ts'
import type { ChatId, InstanceName } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import { createLeaseFence } from '../lease-store.ts'
import type { PersonTable } from '../../schema/people.ts'
import type { Statement } from '../../engine/statement.ts'

export type PersonRecord = Person & { id: ChatId; pushName: string | null; savedName: string | null }
export type PersonChanges = Partial<Omit<PersonRecord, 'id'>>

export class PeopleStore {
  readonly #database: Database
  readonly #fence: (epoch: number) => Statement

  constructor(database: Database) {
    this.#database = database
    this.#fence = createLeaseFence(database)
  }

  /** The records with this phone number or this anonymous id: none, one, or two of the same person. */
  async find(instance: InstanceName, { phone, lid }: Person): Promise<PersonRecord[]> {
    const query = this.#database.query
      .selectFrom('people')
      .selectAll()
      .where('instance', '=', instance)
      .where((eb) =>
        eb.or([...(phone === null ? [] : [eb('phone', '=', phone)]), ...(lid === null ? [] : [eb('lid', '=', lid)])]),
      )
    return (await this.#database.read(query)).map(toRecord)
  }

  /** Rejects with a constraint failure when another record has the phone number or the anonymous id by now. */
  async insert(epoch: number, instance: InstanceName, person: PersonRecord): Promise<void> {
    const { id, phone, lid, pushName: push_name, savedName: saved_name } = person
    const row = { instance, id, phone, lid, push_name, saved_name }
    await this.#database.write(this.#fence(epoch), this.#database.query.insertInto('people').values(row))
  }

  async update(epoch: number, instance: InstanceName, id: ChatId, changes: PersonChanges): Promise<void> {
    const { phone, lid, pushName, savedName } = changes
    const columns = {
      ...(phone !== undefined && { phone }),
      ...(lid !== undefined && { lid }),
      ...(pushName !== undefined && { push_name: pushName }),
      ...(savedName !== undefined && { saved_name: savedName }),
    }
    const update = this.#database.query.updateTable('people').set(columns)
    await this.#database.write(this.#fence(epoch), update.where('instance', '=', instance).where('id', '=', id))
  }

  /**
   * Two records turned out to be one person. Conversations and messages of `drop` become those of `keep`, all or nothing.
   * Where both have one, that of `keep` stays.
   */
  async merge(epoch: number, instance: InstanceName, keep: PersonRecord, drop: ChatId): Promise<void> {
    const { query } = this.#database
    const { id, phone, lid, pushName, savedName } = keep
    await this.#database.write(
      this.#fence(epoch),
      query.deleteFrom('people').where('instance', '=', instance).where('id', '=', drop),
      query
        .updateTable('people')
        .set({ phone, lid, push_name: pushName, saved_name: savedName })
        .where('instance', '=', instance)
        .where('id', '=', id),
      ...this.#moveConversations(instance, id, drop),
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

function toRecord({ id, phone, lid, push_name, saved_name }: Selectable<PersonTable>): PersonRecord {
  return { id, phone, lid, pushName: push_name, savedName: saved_name }
}
