// Which instances moved between nodes. The changes of assignments write it. PostgreSQL only.

import type { PastMove, PastMoves } from '../../../core/nodes/past-move.ts'
import type { Database } from '../../database.ts'

export class PastMoveStore implements PastMoves {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async newest(limit: number): Promise<PastMove[]> {
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
