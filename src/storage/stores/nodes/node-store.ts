// The nodes that share this PostgreSQL: they join, beat and end. All calls go over the vital connections.

import { sql } from 'kysely'
import type { NodeId } from '../../../core/nodes/hold.ts'
import type { BeatAnswer, NewNode, NodeTable, Placement, SeenNode } from '../../../core/nodes/node.ts'
import type { Database } from '../../database.ts'
import { StorageError, toStatement } from '../../engine/statement.ts'
import { asQuery, draining, emptying } from './assignment-sql.ts'
import { beating, seenIn } from './beat-sql.ts'
import type { BeatRow } from './beat-sql.ts'

export class NodeStore implements NodeTable {
  readonly #database: Database
  readonly #beating: ReturnType<typeof beating>

  constructor(database: Database) {
    this.#database = database.vital
    this.#beating = beating(this.#database)
  }

  async join(node: NewNode, now: number): Promise<void> {
    const { query } = this.#database
    const { settingsHash: settings_hash, ...same } = node
    await this.#database.write(
      query
        .insertInto('nodes')
        .values({ ...same, settings_hash, state: 'active', joined_at: now })
        .onConflict((known) => known.doNothing()),
      query
        .insertInto('node_versions')
        .values({ node: node.id, version: 0 })
        .onConflict((known) => known.doNothing()),
    )
  }

  async beat(id: NodeId): Promise<BeatAnswer> {
    const rows = await this.#database.writeReturning<BeatRow>(this.#beating(id))
    const [first] = rows
    if (!first) throw new StorageError('failed', 'the table cluster has no row')
    const { mine, version, settings, agreed, now, free } = first
    return { mine, version: version ?? 0, settings, protocol: agreed, now, free, nodes: seenIn(rows, id) }
  }

  async bury(dead: Pick<SeenNode, 'id' | 'beat'>, placements: readonly Placement[], now: number): Promise<boolean> {
    return this.#end(dead.id, placements, now, dead.beat)
  }

  async drain(id: NodeId): Promise<void> {
    await this.#database.write(asQuery(this.#database, draining(id)))
  }

  async end(id: NodeId, now: number): Promise<void> {
    await this.#end(id, [], now, null)
  }

  async setCapacity(id: NodeId, capacity: number): Promise<void> {
    await this.#database.write(this.#database.query.updateTable('nodes').set({ capacity }).where('id', '=', id))
  }

  /** A dead node whose name still stands in an assignment stays, because it tells that the assignment is free. */
  async prune(before: number): Promise<void> {
    await this.#database.write(
      this.#database.query.deleteFrom('past_moves').where('at', '<', before),
      asQuery(
        this.#database,
        sql`WITH gone AS (
          DELETE FROM nodes WHERE ended_at < ${before}
            AND NOT EXISTS (SELECT 1 FROM assignments WHERE node = nodes.id)
          RETURNING id
        ), stale AS (
          DELETE FROM moves WHERE from_node IN (SELECT id FROM gone) OR to_node IN (SELECT id FROM gone)
        )
        DELETE FROM node_versions WHERE node IN (SELECT id FROM gone)`,
      ),
    )
  }

  /** Buried by others when they have seen its beat; ended by itself otherwise. */
  async #end(id: NodeId, placements: readonly Placement[], now: number, seenBeat: number | null): Promise<boolean> {
    const { query } = this.#database
    const isBuried = seenBeat !== null
    const living = query.selectFrom('nodes').select('id').where('id', '=', id).where('state', '<>', 'dead')
    const meant = isBuried ? living.where('beat', '=', seenBeat) : living
    try {
      await this.#database.write(
        // The update alone would not wait for a change that gives an instance to this node.
        toStatement(meant.forUpdate(), 1),
        query
          .updateTable('nodes')
          .set({ state: 'dead', ended_at: now, is_buried: isBuried ? 1 : 0 })
          .where('id', '=', id),
        asQuery(this.#database, emptying(id, placements, now, isBuried)),
      )
      return true
    } catch (error) {
      if (error instanceof StorageError && error.failure === 'expectation') return false
      throw error
    }
  }
}
