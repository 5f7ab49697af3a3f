// Writes an audit entry before each merge of a repair. After a crash the entries tell what the job has merged before.

import type { InstanceName } from '../../../core/ids.ts'
import type { RepairFinding, RepairParams } from '../../../core/jobs/contacts-jobs.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { AuditStore } from '../../../storage/stores/ledger/audit-store.ts'
import type { ContactPair } from './find-pairs.ts'

type Deps = {
  audit: Pick<AuditStore, 'append' | 'listByKey'>
  ownerTagOf: (instance: InstanceName) => string
  clock: Pick<Clock, 'now'>
}

/** The job that merges. */
export type MergingJob = { id: string; instance: InstanceName; params: Pick<RepairParams, 'actor'> }

export class MergeLog {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Before the merge: an entry must not be missing because of a crash after it. A repetition by the same job adds no entry. */
  async note({ id, instance, params }: MergingJob, { keep, drop, reason }: ContactPair): Promise<void> {
    const { audit, clock, ownerTagOf } = this.#deps
    const { actor = 'api' } = params
    await audit.append({
      ...{ at: clock.now(), actor, action: 'contact.merge', instance, ownerTag: ownerTagOf(instance) },
      ...{ target: String(keep.id), metadata: { merged: drop.id, reason, job: id } },
      key: `${keyOf(id)}${keep.id}|${drop.id}`,
    })
  }

  /** The pairs that an earlier run of the job has merged. `isThere` says whether the helpdesk inbox has a contact. */
  async madeBefore({ id, instance }: MergingJob, isThere: (contactId: number) => boolean): Promise<RepairFinding[]> {
    const entries = await this.#deps.audit.listByKey(instance, keyOf(id))
    const noted = entries.map(({ target, metadata: { merged, reason } }) => ({
      ...{ keep: Number(target), drop: Number(merged), reason: reason as RepairFinding['reason'] },
    }))
    return noted.filter(({ drop }) => !isThere(drop)).map((pair) => ({ ...pair, outcome: 'merged' }))
  }
}

function keyOf(job: string): string {
  return `contact.merge|${job}|`
}
