// The tables as Kysely sees them. Times are epoch milliseconds, flags 0 or 1, JSON is text: alike on both engines.

import type { ColumnType, Generated, Insertable, Selectable } from 'kysely'
import type { InstanceState } from '../core/instance.ts'
import type { Secret, SecretColumns } from './statement.ts'

/** Stored sealed; read as bytes when the read asks for it to be opened. */
type Sealed = ColumnType<Uint8Array, Secret, Secret>
type SealedOrNull = ColumnType<Uint8Array | null, Secret | null, Secret | null>

export type LeaseTable = {
  name: string
  owner: string
  epoch: number
  expires_at: number
}

export type InstanceTable = {
  name: string
  owner_tag: string
  state: InstanceState
  jid: string | null
  last_jid: string | null
  session_id: string | null
  /** The session that an open pairing will become. */
  pairing_session_id: string | null
  /** Still good, and taken up again should the network refuse the newer one at its first login. */
  previous_session_id: string | null
  inbox_id: number
  events_webhook_url: string
  events_webhook_subscribers: string
  spamguard_enabled: number
  spamguard_blocks: number
  last_qr_msg_id: number
  last_error: string | null
  created_at: number
  paired_at: number | null
  ready_at: number | null
  last_event_at: number | null
  /** When a temporary ban ends. */
  retry_at: number | null
}

export type TenantTable = {
  owner_tag: string
  downstream_base_url: string
  downstream_api_token: Sealed
  downstream_account_id: number
  downstream_inbox_id: number
  webhook_hmac_secret: SealedOrNull
  created_at: number
  updated_at: number
}

export type UsageTable = {
  instance: string
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
  instance: string
  owner_tag: string
  target: string
  metadata: string
}

export type SessionKeyTable = {
  session_id: string
  kind: string
  key_id: string
  value: Sealed
}

export type KeptSessionTable = {
  session_id: string
  name: string
  owner_tag: string
  jid: string
  kept_at: number
}

export type Schema = {
  lease: LeaseTable
  instances: InstanceTable
  tenants: TenantTable
  usage: UsageTable
  audit: AuditTable
  session_keys: SessionKeyTable
  kept_sessions: KeptSessionTable
}

export type InstanceRow = Selectable<InstanceTable>
export type NewInstanceRow = Insertable<InstanceTable>
export type InstanceChanges = Partial<Omit<InstanceRow, 'name' | 'created_at'>>
export type KeptSession = Selectable<KeptSessionTable>

export const tenantSecrets = {
  table: 'tenants',
  key: ['owner_tag'],
  columns: ['downstream_api_token', 'webhook_hmac_secret'],
} as const satisfies SecretColumns

export const sessionKeySecrets = {
  table: 'session_keys',
  key: ['session_id', 'kind', 'key_id'],
  columns: ['value'],
} as const satisfies SecretColumns

/** Every table with sealed columns: the boot checks that the configured keys open them. */
export const secretTables: readonly SecretColumns[] = [tenantSecrets, sessionKeySecrets]

/** A record with nothing set: what every new instance starts from. */
export function blankInstance(name: string, created_at: number): InstanceRow {
  return {
    name,
    owner_tag: '',
    state: 'disconnected',
    jid: null,
    last_jid: null,
    session_id: null,
    pairing_session_id: null,
    previous_session_id: null,
    inbox_id: 0,
    events_webhook_url: '',
    events_webhook_subscribers: '[]',
    spamguard_enabled: 0,
    spamguard_blocks: 0,
    last_qr_msg_id: 0,
    last_error: null,
    created_at,
    paired_at: null,
    ready_at: null,
    last_event_at: null,
    retry_at: null,
  }
}
