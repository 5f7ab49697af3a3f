// The nodes that share this PostgreSQL: they join, beat and end. All calls go over the vital connections.

import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { NodeId } from '../../../core/nodes/hold.ts'
import type { BeatAnswer, NewNode, NodeTable, Placement, SeenNode } from '../../../core/nodes/node.ts'
import type { Database } from '../../database.ts'
import { StorageError, toStatement } from '../../engine/statement.ts'
import type { NodesTable } from '../../schema/nodes.ts'
import { asQuery, draining, emptying, freeCount } from './assignment-sql.ts'

type BeatRow = Pick<BeatAnswer, 'mine' | 'settings' | 'now' | 'free'> & { version: number | null; agreed: number } & (
    Selectable<NodesTable> | { id: null }
  )

export class NodeStore implements NodeTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database.vital
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
    const rows = await this.#database.writeReturning(asQuery(this.#database, beating(this.#database, id)))
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

/** One row for each living node; one row without a node when there is none. */
function beating({ now }: Database, id: NodeId) {
  return sql<BeatRow>`
    WITH me AS (
      UPDATE nodes SET beat = beat + 1 WHERE id = ${id} AND state <> 'dead' RETURNING beat
    )
    SELECT nodes.*, (SELECT beat FROM me) AS mine,
      (SELECT version FROM node_versions WHERE node = ${id}) AS version,
      cluster.settings, cluster.protocol AS agreed, ${now} AS now,
      (${freeCount}) AS free
    FROM cluster LEFT JOIN nodes ON nodes.state <> 'dead'`
}

/** The statement reads the nodes as they were before it: the own row has the beat before, or was buried meanwhile. */
function seenIn(rows: readonly BeatRow[], own: NodeId): SeenNode[] {
  const seen = rows.flatMap((row) => {
    if (row.id === null || (row.id === own && row.mine === null)) return []
    const {
      id,
      name,
      address,
      build,
      protocol,
      state,
      capacity,
      joined_at: joinedAt,
      settings_hash: settingsHash,
    } = row
    const beat = row.id === own && row.mine !== null ? row.mine : row.beat
    return { id, name, address, build, protocol, settingsHash, capacity, state, beat, joinedAt }
  })
  return seen.sort((one, another) => (one.id < another.id ? -1 : 1))
}
