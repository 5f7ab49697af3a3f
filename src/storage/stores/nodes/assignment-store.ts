// Which node holds which instance, and which instance is to move. PostgreSQL only.

import type { Compilable } from 'kysely'
import type { InstanceName } from '../../../core/ids.ts'
import type { Hold, NodeId } from '../../../core/nodes/hold.ts'
import type { Assignment, AssignmentTable, Move, Placement } from '../../../core/nodes/node.ts'
import type { Database } from '../../database.ts'
import { asQuery, handingOver, isFree, liveMoves, placing, quarantining, releasing, wishing } from './assignment-sql.ts'
import type { AssignmentRow, HeldOrFree } from './assignment-sql.ts'

export class AssignmentStore implements AssignmentTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async heldBy(node: NodeId): Promise<Assignment[]> {
    return this.#read(this.#all().where('assignments.node', '=', node).where('dead.id', 'is', null))
  }

  async free(): Promise<Assignment[]> {
    return this.#read(this.#all().where(isFree))
  }

  async all(): Promise<Assignment[]> {
    return this.#read(this.#all())
  }

  async find(instance: InstanceName): Promise<Assignment | undefined> {
    return (await this.#read(this.#all().where('assignments.instance', '=', instance)))[0]
  }

  async deathTimes(): Promise<number[]> {
    const query = this.#database.query.selectFrom('nodes').select('ended_at').where('is_buried', '=', 1)
    return (await this.#database.read(query)).flatMap(({ ended_at }) => ended_at ?? [])
  }

  async moves(): Promise<Move[]> {
    const rows = await this.#database.read(asQuery(this.#database, liveMoves))
    return rows.map(({ instance, from_node, to_node, asked_at }) => {
      return { instance, from: from_node, to: to_node, askedAt: asked_at }
    })
  }

  async place(placements: readonly Placement[], now: number): Promise<Assignment[]> {
    if (placements.length === 0) return []
    const placed = await this.#database.writeReturning(asQuery(this.#database, placing(placements, now)))
    return placed.map(toAssignment)
  }

  async wish(moves: readonly Move[]): Promise<void> {
    if (moves.length > 0) await this.#database.write(asQuery(this.#database, wishing(moves)))
  }

  async dropWish(instance: InstanceName): Promise<void> {
    await this.#database.write(this.#database.query.deleteFrom('moves').where('instance', '=', instance))
  }

  async handOver(hold: Hold, to: NodeId, now: number): Promise<Assignment | undefined> {
    const [row] = await this.#database.writeReturning(asQuery(this.#database, handingOver(hold, to, now)))
    return row && toAssignment(row)
  }

  async quarantine(hold: HeldOrFree, now: number): Promise<boolean> {
    const rows = await this.#database.writeReturning(asQuery(this.#database, quarantining(hold, now)))
    return rows.length === 1
  }

  async release(instance: InstanceName, node: NodeId, now: number): Promise<Assignment | undefined> {
    const [row] = await this.#database.writeReturning(asQuery(this.#database, releasing(instance, node, now)))
    return row && toAssignment(row)
  }

  /** A dead node holds nothing, also where a row still names it. */
  #all() {
    return this.#database.query
      .selectFrom('assignments')
      .leftJoin('nodes as dead', (join) => join.onRef('dead.id', '=', 'assignments.node').on('dead.state', '=', 'dead'))
      .select(['instance', 'epoch', 'since', 'crashes', 'crashed_at', 'quarantined_at'])
      .select(({ eb }) => eb.case().when('dead.id', 'is', null).then(eb.ref('node')).else(null).end().as('node'))
      .orderBy('instance', (order) => this.#database.inByteOrder(order))
  }

  async #read(query: Compilable<AssignmentRow>): Promise<Assignment[]> {
    return (await this.#database.read(query)).map(toAssignment)
  }
}

function toAssignment({ crashed_at, quarantined_at, ...same }: AssignmentRow): Assignment {
  return { ...same, crashedAt: crashed_at, quarantinedAt: quarantined_at }
}
