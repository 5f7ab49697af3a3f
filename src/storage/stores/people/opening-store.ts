// Stores which account opens a conversation with a contact. At most one does at a time, in any process.

import type { Kysely } from 'kysely'
import type { DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { Hold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import type { Schema } from '../../schema.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'

/** The contact of an account with which a conversation is opened. */
export type OpeningPlace = { instance: InstanceName; destination: DestinationKey; sourceId: string }

/** `by` is null when a build stored the claim that did not store who opens. */
export type OpeningClaim = { since: number; by: InstanceName | null }

type Contact = Pick<OpeningPlace, 'destination' | 'sourceId'>

export class OpeningStore {
  readonly #database: Database
  readonly #fence: Fence

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
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
  async claim(hold: Hold, place: OpeningPlace, seen: OpeningClaim | null, since: number): Promise<boolean> {
    const update = ofContact(this.#database.query, place).set({ opening_since: since, opening_by: place.instance })
    const guarded = seen
      ? update.where('opening_since', '=', seen.since).where('opening_by', seen.by === null ? 'is' : '=', seen.by)
      : update.where('opening_since', 'is', null)
    const [, changes] = await this.#database.write(this.#fence(hold), guarded)
    return changes === 1
  }

  /** The account opens no conversation with the contact any more. */
  async release(hold: Hold, place: OpeningPlace): Promise<void> {
    await this.#database.write(this.#fence(hold), endOpening(this.#database.query, place))
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
