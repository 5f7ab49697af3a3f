// The tables of the ledger: usage, audit log and deliveries of events.

import type { Generated } from 'kysely'
import type { DeliveryStatus } from '../../core/lifecycle/delivery.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { LifecycleEvent } from '../../core/lifecycle/lifecycle.ts'
import type { SecretColumns } from '../engine/statement.ts'
import type { Sealed } from './sealed.ts'

export type UsageTable = {
  instance: InstanceName
  day: string
  owner_tag: string
  messages_in: number
  messages_out: number
  spamguard_blocks: number
  lifecycle_events: number
}

export type AuditTable = {
  id: Generated<number>
  ts: number
  actor: string
  action: string
  instance: InstanceName
  owner_tag: string
  target: string
  metadata: string
  /** Null for an entry whose write is never repeated. */
  entry_key: Generated<string | null>
}

/** The batches of usage that are stored. A batch that is repeated is found here. */
export type UsageBatchTable = {
  id: string
  stored_at: number
}

export type DeliveryTable = {
  id: string
  event_id: string
  event: LifecycleEvent
  instance: InstanceName
  url: string
  body: Sealed
  created_at: number
  expires_at: number | null
  status: DeliveryStatus
  attempts: number
  next_at: number
  last_code: Generated<number | null>
  last_error: Generated<string | null>
  finished_at: Generated<number | null>
}

export const deliverySecrets = { table: 'deliveries', key: ['id'], columns: ['body'] } as const satisfies SecretColumns
