// The entries of the audit log about an instance.

import type { AuditAction, AuditRecord, Caller } from '../../core/audit.ts'
import type { Clock } from '../../lib/clock.ts'
import type { InstanceRow } from '../../storage/stores/accounts/instance-rows.ts'

export type AuditFacts = NonNullable<AuditRecord['metadata']>

export class InstanceAudits {
  readonly #clock: Pick<Clock, 'now'>

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  of(
    actor: Caller,
    action: AuditAction,
    { name, ownerTag }: Pick<InstanceRow, 'name' | 'ownerTag'>,
    metadata: AuditFacts,
  ): AuditRecord {
    return { at: this.#clock.now(), actor, action, instance: name, ownerTag, target: name, metadata }
  }
}
