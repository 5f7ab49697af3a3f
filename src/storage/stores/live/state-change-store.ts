// How the states of the instances changed during the last two days.

import { sql } from 'kysely'
import type { InstanceName } from '../../../core/ids.ts'
import type { StateChange } from '../../../core/live.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import { compileOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { batchSize } from '../delete-in-batches.ts'
import { NodeWriter } from '../node-writer.ts'

const columns = ['id', 'instance', 'at', 'state', 'reason'] as const

export class StateChangeStore {
  readonly #database: Database
  readonly #writer: NodeWriter
  readonly #insert: ReturnType<typeof compileInsert>

  constructor(database: Database, nodeHold: () => NodeHold) {
    this.#database = database
    this.#writer = new NodeWriter(database, nodeHold)
    this.#insert = compileInsert(database)
  }

  /** Of any instances, so that one commit takes them all. A change that is stored already stays as it is. */
  async add(changes: readonly StateChange[]): Promise<void> {
    const inserts = changes.map(({ id, instance, at, state, reason }) =>
      this.#insert({ id, instance, at, state, reason }),
    )
    if (inserts.length > 0) await this.#writer.write(...inserts)
  }

  /** The last change until `from`, if one is known, and all changes after it, oldest first. */
  async since(instance: InstanceName, from: number): Promise<StateChange[]> {
    const ofInstance = this.#database.query.selectFrom('state_changes').select(columns).where('instance', '=', instance)
    const before = ofInstance.where('at', '<=', from).orderBy('at', 'desc').orderBy('id', 'desc').limit(1)
    const after = ofInstance.where('at', '>', from).orderBy('at').orderBy('id')
    return [...(await this.#database.read(before)), ...(await this.#database.read(after))]
  }

  /**
   * Removes changes before `time`. The last one of each instance stays, because it tells the state at that time. Nothing
   * stays of an instance that does not exist any more.
   */
  async prune(time: number): Promise<void> {
    const { query } = this.#database
    const old = query
      .selectFrom('state_changes as old')
      .select('old.id')
      .where('old.at', '<', time)
      .where((eb) => {
        const newer = eb
          .selectFrom('state_changes as newer')
          .select(sql.lit(1).as('one'))
          .whereRef('newer.instance', '=', 'old.instance')
          .whereRef('newer.at', '>', 'old.at')
          .where('newer.at', '<', time)
        const instance = eb.selectFrom('instances').select(sql.lit(1).as('one')).whereRef('name', '=', 'old.instance')
        return eb.or([eb.exists(newer), eb.not(eb.exists(instance))])
      })
      .limit(batchSize)
    await this.#writer.removeAll(query.deleteFrom('state_changes').where('id', 'in', old))
  }
}

function compileInsert({ query }: Database) {
  return compileOnce(columns, (value) =>
    query
      .insertInto('state_changes')
      .values(value)
      .onConflict((known) => known.column('id').doNothing()),
  )
}
