// Stores under which key each helpdesk inbox is known. The rows of contacts, conversations and messages carry that key.
//
// Before a helpdesk inbox is identified, its key is its place. The first identifier that is read at a place is given to that
// key, so the rows stay as they are. If the identifier has a key already, the place gets that key, and the rows that were
// stored under the place are moved to it. If another helpdesk inbox was at the place before, the new one gets a new key.

import { sql } from 'kysely'
import type { DestinationKey } from '../../../core/ids.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'
import { batchSize } from '../delete-in-batches.ts'
import { destinationTables } from '../../schema.ts'
import { toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

/** `before` is the key that the place had until now. `movedTo` is the key of the rows that were stored under the place. */
export type Identified = { key: DestinationKey; before: DestinationKey; movedTo: DestinationKey | null }

type Table = keyof typeof destinationTables

/** These tables can be so large that moving them in one commit would block other writes. */
const largeTables = ['message_map', 'outbox'] as const satisfies readonly Table[]

export class DestinationStore {
  readonly #database: Database
  readonly #nodeHold: () => NodeHold
  readonly #fence: Fence

  constructor(database: Database, nodeHold: () => NodeHold) {
    this.#database = database
    this.#nodeHold = nodeHold
    this.#fence = createFence(database)
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
    const isFirst = before === null && taken === null
    const key = known ?? (isFirst ? place : `${place}|${identifier}`)
    // Also after the first time: work that was under way during the move may have stored more rows under the place.
    const movedTo = taken === null && (before ?? key) !== place ? (before ?? key) : null
    if (movedTo !== null) for (const table of largeTables) await this.#moveInBatches(table, place, movedTo)
    const { query } = this.#database
    const steps = [
      ...(known === null ? [query.insertInto('destinations').values({ key, identifier })] : []),
      ...(before === key ? [] : [this.#keep(place, key)]),
      ...(movedTo === null ? [] : [this.#keepEarlier(place, movedTo)]),
      ...(movedTo === null ? [] : tables().flatMap((table) => this.#move(table, place, movedTo))),
    ]
    if (steps.length > 0) await this.#database.write(this.#fence(this.#nodeHold()), ...steps)
    return { key, before: before ?? place, movedTo }
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

  /** Of two first callbacks the earlier one counts. Without this step the one of `to` would stay. */
  #keepEarlier(from: DestinationKey, to: DestinationKey): Statement {
    const earliest = sql`SELECT MIN(heard_at) FROM first_callbacks WHERE destination IN (${from}, ${to})`
    return this.#compile(sql`UPDATE first_callbacks SET heard_at = (${earliest}) WHERE destination = ${to}`)
  }

  async #moveInBatches(table: (typeof largeTables)[number], from: DestinationKey, to: DestinationKey): Promise<void> {
    const name = sql.table(table)
    const { own, hasTwin } = conditions(table, from, to)
    const batch = sql`SELECT id FROM ${name} WHERE ${own} AND NOT ${hasTwin} LIMIT ${sql.lit(batchSize)}`
    const update = this.#compile(sql`UPDATE ${name} SET destination = ${to} WHERE id IN (${batch})`)
    for (let moved = batchSize; moved === batchSize;) {
      const counts = await this.#database.write(this.#fence(this.#nodeHold()), update)
      moved = counts.at(-1) ?? 0
    }
  }

  /**
   * Where both destinations have a row, that of the second one stays. Only such twins are deleted: on PostgreSQL another
   * commit may store a row between the two statements.
   */
  #move(table: Table, from: DestinationKey, to: DestinationKey): Statement[] {
    const name = sql.table(table)
    const { own, hasTwin } = conditions(table, from, to)
    return [
      this.#compile(sql`UPDATE ${name} SET destination = ${to} WHERE ${own} AND NOT ${hasTwin}`),
      this.#compile(sql`DELETE FROM ${name} WHERE ${own} AND ${hasTwin}`),
    ]
  }

  #compile(raw: ReturnType<typeof sql>): Statement {
    return toStatement(raw.compile(this.#database.query))
  }
}

/** A twin is a row of `to` that is the same in the unique columns. Without such columns no row has a twin. */
function conditions(table: Table, from: DestinationKey, to: DestinationKey) {
  const columns: readonly string[] | null = destinationTables[table]
  const own = sql`${sql.ref(`${table}.destination`)} = ${from}`
  if (columns === null) return { own, hasTwin: sql`(1 = 0)` }
  const same = columns.map((column) => sql`twin.${sql.ref(column)} = ${sql.ref(`${table}.${column}`)}`)
  const isTwin = sql.join([sql`twin.destination = ${to}`, ...same], sql` AND `)
  return { own, hasTwin: sql`EXISTS (SELECT 1 FROM ${sql.table(table)} AS twin WHERE ${isTwin})` }
}

function tables(): Table[] {
  return Object.keys(destinationTables) as Table[]
}
