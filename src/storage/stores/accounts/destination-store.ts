// Stores under which key each helpdesk inbox is known. The rows of contacts, conversations and messages carry that key.
//
// Before a helpdesk inbox is identified, its key is its place. The first identifier that is read at a place is given to that
// key, so the rows stay as they are. If the identifier has a key already, the place gets that key, and the rows that were
// stored under the place are moved to it. If another helpdesk inbox has the place as its key, the new one gets a new key.

import { sql } from 'kysely'
import type { DestinationKey } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import { createLeaseFence } from '../lease-store.ts'
import { batchSize } from '../delete-in-batches.ts'
import { destinationTables } from '../../schema.ts'
import { toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

/** `before` is the key that the place had until now. `hasMoved` is true when rows of the place belong to the key now. */
export type Identified = { key: DestinationKey; before: DestinationKey; hasMoved: boolean }

type Table = keyof typeof destinationTables

/** These tables can be so large that moving them in one commit would block other writes. */
const largeTables = ['message_map', 'outbox'] as const satisfies readonly Table[]

export class DestinationStore {
  readonly #database: Database
  readonly #epoch: () => number
  readonly #fence: (epoch: number) => Statement

  constructor(database: Database, epoch: () => number) {
    this.#database = database
    this.#epoch = epoch
    this.#fence = createLeaseFence(database)
  }

  /** The key of the helpdesk inbox that was identified last at this place; the place itself before the first time. */
  async keyAt(place: string): Promise<DestinationKey> {
    const query = this.#database.query.selectFrom('destination_places').select('key').where('place', '=', place)
    const [row] = await this.#database.read(query)
    return row?.key ?? place
  }

  /** The key of the helpdesk inbox with this identifier, which was found at this place. Callers ask one after the other. */
  async identify(place: string, identifier: string): Promise<Identified> {
    const { before, known, taken } = await this.#find(place, identifier)
    const key = known ?? (taken === null ? place : `${place}|${identifier}`)
    // Work that was under way during the last move may have stored more rows under the place.
    const hasMoved = key !== place && taken === null
    if (hasMoved) for (const table of largeTables) await this.#moveInBatches(table, place, key)
    const { query } = this.#database
    const steps = [
      ...(known === null ? [query.insertInto('destinations').values({ key, identifier })] : []),
      ...(before === key ? [] : [this.#keep(place, key)]),
      ...(hasMoved ? tables().flatMap((table) => this.#move(table, place, key)) : []),
    ]
    if (steps.length > 0) await this.#database.write(this.#fence(this.#epoch()), ...steps)
    return { key, before: before ?? place, hasMoved }
  }

  /** `known` is the key of the identifier. `taken` is the key of an identified helpdesk inbox that is named like the place. */
  async #find(place: string, identifier: string) {
    const { query } = this.#database
    const [found] = await this.#database.read(
      query.selectNoFrom([
        query.selectFrom('destination_places').select('key').where('place', '=', place).as('before'),
        query.selectFrom('destinations').select('key').where('identifier', '=', identifier).as('known'),
        query.selectFrom('destinations').select('key').where('key', '=', place).as('taken'),
      ]),
    )
    return found ?? { before: null, known: null, taken: null }
  }

  #keep(place: string, key: DestinationKey) {
    const insert = this.#database.query.insertInto('destination_places').values({ place, key })
    return insert.onConflict((conflict) => conflict.column('place').doUpdateSet({ key }))
  }

  async #moveInBatches(table: (typeof largeTables)[number], from: DestinationKey, to: DestinationKey): Promise<void> {
    const name = sql.table(table)
    const batch = sql`SELECT id FROM ${name} WHERE ${this.#isFree(table, from, to)} LIMIT ${batchSize}`
    const update = this.#compile(sql`UPDATE ${name} SET destination = ${to} WHERE id IN (${batch})`)
    for (let moved = batchSize; moved === batchSize;) {
      const counts = await this.#database.write(this.#fence(this.#epoch()), update)
      moved = counts.at(-1) ?? 0
    }
  }

  /** Where both destinations have a row, that of the second one stays. */
  #move(table: Table, from: DestinationKey, to: DestinationKey): Statement[] {
    const name = sql.table(table)
    return [
      this.#compile(sql`UPDATE ${name} SET destination = ${to} WHERE ${this.#isFree(table, from, to)}`),
      this.#compile(sql`DELETE FROM ${name} WHERE destination = ${from}`),
    ]
  }

  /** True for rows of `from` without a twin: a row of `to` that is the same in the unique columns. */
  #isFree(table: Table, from: DestinationKey, to: DestinationKey) {
    const columns: readonly string[] = destinationTables[table]
    const own = sql`${sql.ref(`${table}.destination`)} = ${from}`
    if (columns.length === 0) return own
    const same = columns.map((column) => sql`twin.${sql.ref(column)} = ${sql.ref(`${table}.${column}`)}`)
    const twin = sql`SELECT 1 FROM ${sql.table(table)} AS twin WHERE twin.destination = ${to} AND ${sql.join(same, sql` AND `)}`
    return sql`${own} AND NOT EXISTS (${twin})`
  }

  #compile(raw: ReturnType<typeof sql>): Statement {
    return toStatement(raw.compile(this.#database.query))
  }
}

function tables(): Table[] {
  return Object.keys(destinationTables) as Table[]
}
