// The stores of nodes and assignments, which count beats and moves for the metrics.

import type { Hold, NodeId } from '../../core/nodes/hold.ts'
import type { Assignment, BeatAnswer, Placement, SeenNode } from '../../core/nodes/node.ts'
import type { NodeMetrics } from '../../ledger/node-metrics.ts'
import type { Clock } from '../../lib/clock.ts'
import { beatDeadlineMs } from '../../nodes/membership/times.ts'
import type { Database } from '../../storage/database.ts'
import { AssignmentStore } from '../../storage/stores/nodes/assignment-store.ts'
import { NodeStore } from '../../storage/stores/nodes/node-store.ts'

export class CountedNodeStore extends NodeStore {
  readonly #metrics: NodeMetrics
  readonly #clock: Clock

  constructor(database: Database, metrics: NodeMetrics, clock: Clock) {
    super(database)
    this.#metrics = metrics
    this.#clock = clock
  }

  /** An answer that comes after the deadline is one that the node does not wait for. */
  override async beat(id: NodeId): Promise<BeatAnswer> {
    const asked = this.#clock.monotonic()
    const tookMs = () => this.#clock.monotonic() - asked
    try {
      const answer = await super.beat(id)
      if (tookMs() > beatDeadlineMs) this.#metrics.beatFailed()
      else this.#metrics.beat(tookMs())
      return answer
    } catch (error) {
      this.#metrics.beatFailed()
      throw error
    }
  }

  override async bury(
    dead: Pick<SeenNode, 'id' | 'beat'>,
    placements: readonly Placement[],
    now: number,
  ): Promise<boolean> {
    const isBuried = await super.bury(dead, placements, now)
    if (isBuried) this.#metrics.moved('death', placements.length)
    return isBuried
  }
}

export class CountedAssignmentStore extends AssignmentStore {
  readonly #metrics: NodeMetrics

  constructor(database: Database, metrics: NodeMetrics) {
    super(database)
    this.#metrics = metrics
  }

  override async place(placements: readonly Placement[], now: number): Promise<Assignment[]> {
    const placed = await super.place(placements, now)
    this.#metrics.moved('placed', placed.length)
    return placed
  }

  override async handOver(hold: Hold, to: NodeId, now: number): Promise<Assignment | undefined> {
    const given = await super.handOver(hold, to, now)
    if (given) this.#metrics.moved('hand_over', 1)
    return given
  }
}
