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
import { createFence, writeHeld } from '../fence.ts'
import type { Fence } from '../fence.ts'

export type PendingLogout = {
  sessionId: string
  instance: InstanceName
  ownerTag: string
  askedAt: number
  /** The session is logged out through the proxy that it was used with. */
  networkProxy: string | null
}

/** elsewhere: another living node has it. done: the logout is not pending any more. */
export type LogoutClaim = 'claimed' | 'elsewhere' | 'done'

/** Two nodes may have written these times, so this says only which node begins. The claim decides. */
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

  /** Only the node that has claimed a logout opens its session. Made before each attempt, and kept until the node ends or releases it. */
  async claim(hold: NodeHold, sessionId: string): Promise<LogoutClaim> {
    const { query } = this.#database
    const pending = query
      .updateTable('pending_logouts')
      .set({ claimed_by: hold.node })
      .where('session_id', '=', sessionId)
    const [, claimed] = await writeHeld(this.#database, this.#fence, hold, pending.where(this.#isFreeFor(hold)))
    if (claimed === 1) return 'claimed'
    const left = await this.#database.read(
      query.selectFrom('pending_logouts').select('instance').where('session_id', '=', sessionId),
    )
    return left.length === 0 ? 'done' : 'elsewhere'
  }

  async release(hold: NodeHold, sessionId: string): Promise<void> {
    const claimed = this.#database.query.updateTable('pending_logouts').set({ claimed_by: null })
    const own = claimed.where('session_id', '=', sessionId).where('claimed_by', '=', hold.node)
    await writeHeld(this.#database, this.#fence, hold, own)
  }

  /** SQLite has one process at a time, and the fence has found it. */
  #isFreeFor({ node }: NodeHold): RawBuilder<boolean> {
    if (this.#database.engine === 'sqlite') return sql<boolean>`1 = 1`
    const claimer = sql`SELECT 1 FROM nodes WHERE id = pending_logouts.claimed_by AND state <> 'dead'`
    return sql<boolean>`(claimed_by = ${node} OR NOT EXISTS (${claimer}))`
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
