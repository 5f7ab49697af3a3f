// Stores the logouts that WhatsApp has not confirmed yet. They outlive the record of their instance.

import type { AuditRecord } from '../../../core/audit.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import { auditInsert } from '../ledger/audit-store.ts'
import type { Database } from '../../database.ts'
import { pendingLogoutSecrets } from '../../schema/accounts.ts'
import { openedText, sealedProxy } from './instance-rows.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'

export type PendingLogout = {
  sessionId: string
  instance: InstanceName
  ownerTag: string
  askedAt: number
  /** The session is logged out through the proxy that it was used with. */
  networkProxy: string | null
}

export class PendingLogoutStore {
  readonly #database: Database
  readonly #fence: Fence

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
  }

  /** Oldest first. */
  async list(): Promise<PendingLogout[]> {
    const stored = await this.#database.read(
      this.#database.query.selectFrom('pending_logouts').selectAll().orderBy('asked_at'),
      pendingLogoutSecrets,
    )
    return stored.map((row) => ({
      sessionId: row.session_id,
      instance: row.instance,
      ownerTag: row.owner_tag,
      askedAt: row.asked_at,
      networkProxy: openedText(row.network_proxy),
    }))
  }

  async remove(hold: NodeHold, sessionId: string, audits: readonly AuditRecord[]): Promise<void> {
    await this.#database.write(
      this.#fence(hold),
      this.#database.query.deleteFrom('pending_logouts').where('session_id', '=', sessionId),
      ...audits.map((audit) => auditInsert(this.#database, audit)),
    )
  }
}

/** Steps of a write: the logouts are stored together with the record that no longer has these sessions. */
export function pendingLogoutInserts({ query }: Database, logouts: readonly PendingLogout[]) {
  return logouts.map(({ sessionId, instance, ownerTag, askedAt, networkProxy }) =>
    query
      .insertInto('pending_logouts')
      .values({
        ...{ session_id: sessionId, instance, owner_tag: ownerTag, asked_at: askedAt },
        network_proxy: sealedProxy(pendingLogoutSecrets.table, sessionId, networkProxy),
      })
      .onConflict((known) => known.column('session_id').doNothing()),
  )
}
