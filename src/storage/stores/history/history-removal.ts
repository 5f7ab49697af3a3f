// Removes kept history that is not needed any more: of deleted instances, too old to be imported, or left behind by a job.

import type { InstanceName } from '../../../core/ids.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'
import { orphanInstances } from '../orphan-instances.ts'

export class HistoryRemoval {
  readonly #database: Database
  readonly #fence: Fence

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
  }

  /** Removes at most `limit` messages of a deleted instance, and with the last of them its chats. Returns how many there were. */
  async dropInstance(hold: NodeHold, instance: InstanceName, limit: number): Promise<number> {
    const { query } = this.#database
    const messages = query.selectFrom('history_messages').select('id').where('instance', '=', instance)
    // An instance of the same name may have been created since the caller asked.
    const record = query.selectFrom('instances').select('name').where('name', '=', instance)
    const [, removed = 0] = await this.#database.write(
      this.#fence(hold),
      query
        .deleteFrom('history_messages')
        .where('id', 'in', messages.limit(limit))
        .where((row) => row.not(row.exists(record))),
      query
        .deleteFrom('history_chats')
        .where('instance', '=', instance)
        .where((row) => row.not(row.exists(record)))
        .where((row) => row.not(row.exists(messages))),
    )
    return removed
  }

  /** Instances that do not exist any more but still have a kept history. */
  orphans(): Promise<InstanceName[]> {
    return orphanInstances(this.#database, 'history_chats')
  }

  /**
   * Removes at most `limit` messages that were sent before that time, unless a job of their instance has not ended yet, and at
   * most as many that an ended job has left behind. A message that failed in an ended job can be imported by another one.
   * Returns the greatest number of messages that a step has changed.
   */
  async prune(hold: NodeHold, before: number, limit: number): Promise<number> {
    const { query } = this.#database
    const live = query.selectFrom('jobs').where('status', 'in', ['pending', 'running'])
    const some = query.selectFrom('history_messages').select('id').limit(limit)
    const old = some
      .where('outcome', 'is', null)
      .where('sent_at', '<', before)
      .where('instance', 'not in', live.select('instance'))
    const left = some
      .where('job_id', 'is not', null)
      .where('job_id', 'not in', live.select('id'))
      .where('job_id', 'not in', this.#untidyJobs())
    const removal = query.deleteFrom('history_messages')
    const release = query.updateTable('history_messages').set({ outcome: null, job_id: null })
    const [, ...changed] = await this.#database.write(
      this.#fence(hold),
      removal.where('id', 'in', old),
      removal.where('id', 'in', left.where('outcome', '<>', 'error')),
      release.where('id', 'in', left.where('outcome', '=', 'error')),
    )
    return Math.max(...changed)
  }

  /** Jobs that have a conversation still to be tidied up. Until then their messages tell what of it was imported. */
  #untidyJobs() {
    return this.#database.query
      .selectFrom('import_chats')
      .select('job_id')
      .where('state', '=', 'running')
      .where('conversation_id', 'is not', null)
  }
}
