// The statement of a beat, and what its rows tell. PostgreSQL keeps its plan: nodes beat all the time, and planning it takes
// longer than running it.

import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { NodeId } from '../../../core/nodes/hold.ts'
import type { BeatAnswer, SeenNode } from '../../../core/nodes/node.ts'
import { compileOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import type { NodesTable } from '../../schema/nodes.ts'
import { asQuery, freeCount } from './assignment-sql.ts'

export type BeatRow = Pick<BeatAnswer, 'mine' | 'settings' | 'now' | 'free'> & {
  version: number | null
  agreed: number
} & (Pick<Selectable<NodesTable>, SeenColumn> | { id: null })

type SeenColumn = (typeof seenColumns)[number]

// Not all columns: PostgreSQL refuses a kept plan when the columns of its result change, as a migration may do.
const seenColumns = [
  'id',
  'name',
  'address',
  'build',
  'protocol',
  'settings_hash',
  'state',
  'beat',
  'capacity',
  'joined_at',
] as const

/** One row for each living node; one row without a node when there is none. */
export function beating(database: Database) {
  const seen = sql.join(seenColumns.map((column) => sql.ref(`nodes.${column}`)))
  const fill = compileOnce(['id'], ({ id }) =>
    asQuery(
      database,
      sql`WITH me AS (
        UPDATE nodes SET beat = beat + 1 WHERE id = ${id} AND state <> 'dead' RETURNING beat
      )
      SELECT ${seen}, (SELECT beat FROM me) AS mine,
        (SELECT version FROM node_versions WHERE node = ${id}) AS version,
        cluster.settings, cluster.protocol AS agreed, ${database.now} AS now,
        (${freeCount}) AS free
      FROM cluster LEFT JOIN nodes ON nodes.state <> 'dead'`,
    ),
  )
  return (id: NodeId) => ({ ...fill({ id }), isPlannedOnce: true as const })
}

/** The statement reads the nodes as they were before it: the own row has the beat before, or was buried meanwhile. */
export function seenIn(rows: readonly BeatRow[], own: NodeId): SeenNode[] {
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
