// What operators read about the nodes. Nothing is decided by it. PostgreSQL only.

import type { ClusterCounts, ClusterReads, PastMove } from '../../../core/nodes/cluster-view.ts'
import type { Database } from '../../database.ts'

export class ClusterStore implements ClusterReads {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async counts(): Promise<ClusterCounts> {
    const assignments = this.#database.query.selectFrom('assignments')
    const [counted, quarantined] = await Promise.all([
      this.#database.read(
        assignments
          .select(({ fn }) => ['node', fn.countAll<number>().as('instances')])
          .where('quarantined_at', 'is', null)
          .groupBy('node'),
      ),
      this.#database.read(
        assignments
          .select('instance')
          .where('quarantined_at', 'is not', null)
          .orderBy('instance', (order) => this.#database.inByteOrder(order)),
      ),
    ])
    return {
      held: new Map(counted.map(({ node, instances }) => [node, instances])),
      quarantined: quarantined.map(({ instance }) => instance),
    }
  }

  async newestMoves(limit: number): Promise<PastMove[]> {
    return this.#database.read(
      this.#database.query
        .selectFrom('past_moves')
        .leftJoin('nodes as giver', 'giver.id', 'from_node')
        .leftJoin('nodes as taker', 'taker.id', 'to_node')
        .select(['instance', 'giver.name as from', 'taker.name as to', 'reason', 'at'])
        .orderBy('past_moves.id', 'desc')
        .limit(limit),
    )
  }
}
