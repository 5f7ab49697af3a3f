// The SQL of nodes and assignments on PostgreSQL. Each change is guarded by its own conditions, and the touched rows are the answer.
//
// All changes lock in one order: nodes, assignments, moves, versions. So no two of them wait for each other. PostgreSQL runs the
// parts of a statement in this order only where one part reads the other.
// - A change that gives an instance to a node locks the row of that node FOR KEY SHARE. A beat does not wait for this lock.
// - A change that ends a node locks its row FOR UPDATE. It waits for those that give to the node, and then sees what they gave.

import { sql } from 'kysely'
import type { Compilable, RawBuilder, Selectable } from 'kysely'
import type { Hold, NodeId } from '../../../core/nodes/hold.ts'
import type { Assignment, Move, Placement } from '../../../core/nodes/node.ts'
import type { MoveReason } from '../../../core/nodes/cluster-view.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import type { AssignmentsTable } from '../../schema/nodes.ts'

export type AssignmentRow = Selectable<AssignmentsTable>

/** Each change of the owner gets a new one, also that to no owner. */
export const newEpoch = sql<number>`nextval('assignment_epoch')`

/** A row that a transaction locked when its owner was buried still names the dead owner. It is free all the same. */
export const isFree = sql<boolean>`(quarantined_at IS NULL
  AND (assignments.node IS NULL OR assignments.node IN (SELECT id FROM nodes WHERE state = 'dead')))`

/**
 * How many there are. All instances of one dead owner count as one. Every beat runs this query, so the query reads no assignment
 * of a living node. The query is short, because PostgreSQL needs more time to plan a beat than to run it.
 */
export const freeCount = sql<number>`
  (SELECT count(*) FROM assignments WHERE node IS NULL AND quarantined_at IS NULL)
  + (SELECT count(*) FROM nodes AS dead WHERE state = 'dead'
     AND (SELECT min(instance) FROM assignments WHERE node = dead.id) IS NOT NULL)`

/** Crashes count together when the next one comes within this time. */
const crashWindowMs = 600_000

export function asQuery<Output>({ query }: Database, raw: RawBuilder<Output>): Compilable<Output> {
  return { compile: () => raw.compile(query) }
}

/** Ends every change that concerns other nodes: their next beat tells them to look. */
const tell = (nodes: RawBuilder<unknown>) => sql`told AS (
  UPDATE node_versions SET version = version + 1
  FROM (SELECT node FROM node_versions WHERE node IN (${nodes}) ORDER BY node FOR UPDATE) AS concerned
  WHERE node_versions.node = concerned.node
)`

const changed = sql`SELECT * FROM moved`

/** What an operator reads later. `rows` has the instance, the node before, the node after and the reason. */
const note = (rows: RawBuilder<unknown>, now: number) => sql`noted AS (
  INSERT INTO past_moves (instance, from_node, to_node, reason, at)
  SELECT changes.*, CAST(${now} AS BIGINT) FROM (${rows}) AS changes
)`

const because = (reason: MoveReason) => sql.lit(reason)

/** A taker that another change is about to end is left out. */
const takersOf = (ids: RawBuilder<unknown>) => sql`takers AS (
  SELECT id FROM nodes WHERE id IN (${ids}) AND state = 'active' FOR KEY SHARE SKIP LOCKED
)`

const wantedBy = (placements: readonly Placement[]) => sql`wanted AS (
  SELECT * FROM json_to_recordset(CAST(${JSON.stringify(placements)} AS json)) AS wanted (instance TEXT, node TEXT)
), ${takersOf(sql`SELECT node FROM wanted`)}`

const crashesAfter = (now: number) => sql`
  CASE WHEN abs(assignments.crashed_at - CAST(${now} AS BIGINT)) <= ${crashWindowMs} THEN assignments.crashes + 1 ELSE 1 END`

/**
 * A locked row is left out: it must not hold up the others. No part joins `moved`: PostgreSQL expects one row of it, and would
 * compare thousands of instances with each other.
 */
export const placing = (placements: readonly Placement[], now: number) => sql<AssignmentRow>`
  WITH ${wantedBy(placements)}, free AS (
    SELECT assignments.instance, assignments.node AS dead, wanted.node AS taker,
      assignments.node IN (SELECT id FROM nodes WHERE is_buried = 1) AS is_crashed
    FROM assignments JOIN wanted ON wanted.instance = assignments.instance WHERE ${isFree}
    FOR UPDATE OF assignments SKIP LOCKED
  ), moved AS (
    UPDATE assignments SET node = takers.id, epoch = ${newEpoch}, since = ${now},
      crashes = CASE WHEN free.is_crashed THEN ${crashesAfter(now)} ELSE assignments.crashes END,
      crashed_at = CASE WHEN free.is_crashed THEN CAST(${now} AS BIGINT) ELSE assignments.crashed_at END
    FROM free JOIN takers ON takers.id = free.taker
    WHERE assignments.instance = free.instance
    RETURNING assignments.*, free.dead, free.is_crashed
  ), ${note(
    sql`SELECT instance, dead, node, CASE WHEN is_crashed THEN ${because('death')} ELSE ${because('placed')} END FROM moved`,
    now,
  )}, ${tell(sql`SELECT node FROM moved`)}
  SELECT instance, node, epoch, since, crashes, crashed_at, quarantined_at FROM moved`

/** What a node held goes to the takers, or to no node. Locked rows stay as they are: they are free because their node is dead. */
export const emptying = (node: NodeId, placements: readonly Placement[], now: number, isCrash: boolean) => sql`
  WITH ${wantedBy(placements)}, held AS (
    SELECT instance FROM assignments WHERE node = ${node} FOR UPDATE SKIP LOCKED
  ), moved AS (
    UPDATE assignments SET node = takers.id, epoch = ${newEpoch}, since = ${now}
      ${isCrash ? sql`, crashes = ${crashesAfter(now)}, crashed_at = ${now}` : sql``}
    FROM held LEFT JOIN wanted ON wanted.instance = held.instance LEFT JOIN takers ON takers.id = wanted.node
    WHERE assignments.instance = held.instance
    RETURNING assignments.instance, assignments.node
  ), ${isCrash ? sql`${note(sql`SELECT instance, CAST(${node} AS TEXT), node, ${because('death')} FROM moved`, now)},` : sql``}
  ${dropping(sql`from_node = ${node} OR to_node = ${node}`)},
  ${tell(sql`SELECT node FROM moved UNION SELECT from_node FROM dropped`)}
  SELECT 1`

/** A wish that is left because it is locked counts as stale, see `liveMoves`. */
const dropping = (which: RawBuilder<unknown>) => sql`dropped AS (
  DELETE FROM moves USING (SELECT instance FROM moves WHERE ${which} FOR UPDATE SKIP LOCKED) AS stale
  WHERE moves.instance = stale.instance
  RETURNING moves.from_node
)`

export const draining = (node: NodeId) => sql`
  WITH drained AS (
    UPDATE nodes SET state = 'draining' WHERE id = ${node} AND state = 'active' RETURNING id
  ), ${dropping(sql`to_node IN (SELECT id FROM drained)`)}, ${tell(sql`SELECT from_node FROM dropped`)}
  SELECT 1`

/** Only for an instance that the giver holds. A wish stays, unless it is stale. The order keeps two wishes from a deadlock. */
export const wishing = (moves: readonly Move[]) => sql`
  WITH asked AS (
    SELECT * FROM json_to_recordset(CAST(${JSON.stringify(moves)} AS json))
      AS asked (instance TEXT, "from" TEXT, "to" TEXT, "askedAt" BIGINT)
  ), ${takersOf(sql`SELECT "to" FROM asked`)}, added AS (
    INSERT INTO moves (instance, from_node, to_node, asked_at)
    SELECT asked.instance, asked."from", takers.id, asked."askedAt"
    FROM asked JOIN takers ON takers.id = asked."to" AND takers.id <> asked."from"
      JOIN assignments ON assignments.instance = asked.instance AND assignments.node = asked."from"
    ORDER BY asked.instance
    ON CONFLICT (instance) DO UPDATE
    SET from_node = excluded.from_node, to_node = excluded.to_node, asked_at = excluded.asked_at
    WHERE moves.from_node <> excluded.from_node
      OR moves.to_node NOT IN (SELECT id FROM nodes WHERE state = 'active')
    RETURNING from_node
  ), ${tell(sql`SELECT from_node FROM added`)}
  SELECT 1`

/** Other changes leave a stale wish where they meet it: its giver does not hold the instance, or its taker is not active. */
export const liveMoves = sql<{ instance: InstanceName; from_node: NodeId; to_node: NodeId; asked_at: number }>`
  SELECT moves.* FROM moves
    JOIN assignments ON assignments.instance = moves.instance AND assignments.node = moves.from_node
    JOIN nodes AS giver ON giver.id = moves.from_node AND giver.state <> 'dead'
    JOIN nodes AS taker ON taker.id = moves.to_node AND taker.state = 'active'
  ORDER BY moves.asked_at, moves.instance`

/** `node` is null when no node holds the instance. */
export type HeldOrFree = Pick<Assignment, 'instance' | 'node' | 'epoch'>

const isHeld = ({ instance, node, epoch }: Hold) => sql`instance = ${instance} AND node = ${node} AND epoch = ${epoch}`

/** A taker that is not active leaves the instance without an owner. Here and below, the condition on `dropped` makes it run first. */
export const handingOver = (hold: Hold, to: NodeId, now: number) => sql<AssignmentRow>`
  WITH taker AS (
    SELECT id FROM nodes WHERE id = ${to} AND state = 'active' FOR KEY SHARE
  ), moved AS (
    UPDATE assignments SET node = (SELECT id FROM taker), epoch = ${newEpoch}, since = ${now}
    WHERE ${isHeld(hold)} RETURNING *
  ), dropped AS (
    DELETE FROM moves WHERE instance IN (SELECT instance FROM moved) RETURNING instance
  ), ${note(sql`SELECT instance, CAST(${hold.node} AS TEXT), node, ${because('hand_over')} FROM moved`, now)},
  ${tell(sql`SELECT node FROM moved WHERE (SELECT count(*) FROM dropped) >= 0`)}
  ${changed}`

/** An instance that kills its nodes is mostly free when that is seen. */
export const quarantining = ({ instance, node, epoch }: HeldOrFree, now: number) => sql<AssignmentRow>`
  WITH moved AS (
    UPDATE assignments SET node = NULL, epoch = ${newEpoch}, since = ${now}, quarantined_at = ${now}
    WHERE ${node === null ? sql`instance = ${instance} AND epoch = ${epoch} AND ${isFree}` : isHeld({ instance, node, epoch })}
    RETURNING *
  ), dropped AS (
    DELETE FROM moves WHERE instance IN (SELECT instance FROM moved) RETURNING instance
  ), ${tell(sql`SELECT CAST(${node} AS TEXT) FROM moved WHERE (SELECT count(*) FROM dropped) >= 0`)}
  ${changed}`

export const releasing = (instance: InstanceName, node: NodeId, now: number) => sql<AssignmentRow>`
  WITH taker AS (
    SELECT id FROM nodes WHERE id = ${node} AND state <> 'dead' FOR KEY SHARE
  ), moved AS (
    UPDATE assignments SET node = taker.id, epoch = ${newEpoch}, since = ${now},
      quarantined_at = NULL, crashes = 0, crashed_at = NULL
    FROM taker WHERE instance = ${instance} AND quarantined_at IS NOT NULL RETURNING assignments.*
  ), ${note(sql`SELECT instance, CAST(NULL AS TEXT), node, ${because('placed')} FROM moved`, now)},
  ${tell(sql`SELECT node FROM moved`)}
  ${changed}`
