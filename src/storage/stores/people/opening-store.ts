// Stores which account opens a conversation with a contact. At most one does at a time, in any process.

import type { Kysely } from 'kysely'
import type { DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import type { Schema } from '../../schema.ts'
import type { Statement } from '../../engine/statement.ts'
import { createLeaseFence } from '../lease-store.ts'

/** The contact of an account with which a conversation is opened. */
export type OpeningPlace = { instance: InstanceName; destination: DestinationKey; sourceId: string }

/** `by` is null when a build stored the claim that did not store who opens. */
export type OpeningClaim = { since: number; by: InstanceName | null }

type Contact = Pick<OpeningPlace, 'destination' | 'sourceId'>

export class OpeningStore {
  readonly #database: Database
  readonly #fence: (epoch: number) => Statement

  constructor(database: Database) {
    this.#database = database
    this.#fence = createLeaseFence(database)
  }

  /** Null when no conversation is being opened with the contact. */
  async find({ destination, sourceId }: Contact): Promise<OpeningClaim | null> {
    const query = this.#database.query
      .selectFrom('contacts')
      .select(['opening_since', 'opening_by'])
      .where('destination', '=', destination)
      .where('source_id', '=', sourceId)
    const [row] = await this.#database.read(query)
    return row && row.opening_since !== null ? { since: row.opening_since, by: row.opening_by } : null
  }

  /** False when another claim than the one that was seen is stored: then nothing changes. */
  async claim(epoch: number, place: OpeningPlace, seen: OpeningClaim | null, since: number): Promise<boolean> {
    const update = ofContact(this.#database.query, place).set({ opening_since: since, opening_by: place.instance })
    const guarded = seen
      ? update.where('opening_since', '=', seen.since).where('opening_by', seen.by === null ? 'is' : '=', seen.by)
      : update.where('opening_since', 'is', null)
    const [, changes] = await this.#database.write(this.#fence(epoch), guarded)
    return changes === 1
  }

  /** The account opens no conversation with the contact any more. */
  async release(epoch: number, place: OpeningPlace): Promise<void> {
    await this.#database.write(this.#fence(epoch), endOpening(this.#database.query, place))
  }
}

/** Leaves the claim of another account alone. */
export function endOpening(query: Kysely<Schema>, place: OpeningPlace) {
  const ended = { opening_since: null, opening_by: null }
  return ofContact(query, place).set(ended).where('opening_by', '=', place.instance)
}

function ofContact(query: Kysely<Schema>, { destination, sourceId }: Contact) {
  return query.updateTable('contacts').where('destination', '=', destination).where('source_id', '=', sourceId)
}
