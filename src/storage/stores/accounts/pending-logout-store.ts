// Stores the logouts that WhatsApp has not confirmed yet. They outlive the record of their instance.

import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
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

const itsInstance = sql`SELECT 1 FROM instances
  WHERE name = pending_logouts.instance AND created_at <= pending_logouts.asked_at`

export class PendingLogoutStore {
  readonly #database: Database
  readonly #fence: Fence

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
  }

  /** Oldest first. */
  list(): Promise<PendingLogout[]> {
    return this.#read(sql<boolean>`1 = 1`)
  }

  /** Those that were asked for since the instance was created. Its holder carries them out. */
  listOf(instance: InstanceName): Promise<PendingLogout[]> {
    return this.#read(sql<boolean>`(instance = ${instance} AND EXISTS (${itsInstance}))`)
  }

  /** Those whose instance was deleted, also when an instance of the same name was created since. The first node carries them out. */
  listOfDeleted(): Promise<PendingLogout[]> {
    return this.#read(sql<boolean>`NOT EXISTS (${itsInstance})`)
  }

  async #read(condition: RawBuilder<boolean>): Promise<PendingLogout[]> {
    const stored = await this.#database.read(
      this.#database.query.selectFrom('pending_logouts').selectAll().where(condition).orderBy('asked_at'),
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
