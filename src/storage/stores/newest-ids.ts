// The time of new ids. They sort after all stored ones, although the clock was ahead when those were made.

import type { Duties } from '../../core/nodes/duties.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { NextRun } from '../../lib/queues/next-run.ts'
import { msAfter } from '../../lib/row-ids.ts'
import type { Database } from '../database.ts'

const tables = ['inbox', 'outbox', 'message_map', 'history_messages'] as const

type Deps = {
  database: Database
  duties: Pick<Duties, 'held'>
  /** On several nodes the time of the database: their own clocks differ. */
  now: () => number
}

export class IdClock implements PerInstance {
  readonly #deps: Deps
  /** Instances that are taken together share a read. */
  readonly #reads = new NextRun(() => this.#read())
  #floorMs = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  now(): number {
    return Math.max(this.#deps.now(), this.#floorMs)
  }

  /** Another node may have made the newest ids of the instance. Those of all instances are found with one read of an index each. */
  async take(): Promise<void> {
    if (this.#deps.duties.held() !== 'all') await this.follow()
  }

  /** Ids of the process stay in order. */
  leave(): void {
    return undefined
  }

  /** From now on no id sorts before one that is stored. */
  follow(): Promise<void> {
    return this.#reads.run()
  }

  async #read(): Promise<void> {
    this.#floorMs = Math.max(this.#floorMs, await findIdFloor(this.#deps.database))
  }
}

/** The first millisecond whose ids sort after every stored id. One read of an index for each table. */
async function findIdFloor(database: Database): Promise<number> {
  let floor = 0
  for (const table of tables) {
    const newest = database.query.selectFrom(table).select('id').orderBy('id', 'desc').limit(1)
    for (const { id } of await database.read(newest)) floor = Math.max(floor, msAfter(id))
  }
  return floor
}
