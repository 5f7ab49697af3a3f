// The tables of the accounts: the lease on them, their records, tenants, session keys, restrictions and the client version.

import type { Generated } from 'kysely'
import type { DestinationKey, InstanceName, Jid } from '../../core/ids.ts'
import type { InstanceState } from '../../core/instance.ts'
import type { LastErrorCode } from '../../core/last-error.ts'
import type { NodeId } from '../../core/nodes/hold.ts'
import type { SecretColumns } from '../engine/statement.ts'
import type { Sealed, SealedOrNull } from './sealed.ts'

export type LeaseTable = {
  name: string
  owner: string
  epoch: number
  expires_at: number
  /** The last epoch whose owner took over the rows of earlier builds; null before the first one. */
  taken_over_epoch: number | null
  /** When the backup was made that this database comes from; null once an owner has settled its rows. */
  backup_at: Generated<number | null>
}

export type InstanceTable = {
  name: InstanceName
  owner_tag: string
  state: InstanceState
  jid: Jid | null
  last_jid: Jid | null
  session_id: string | null
  /** The session that an open pairing will become. */
  pairing_session_id: string | null
  /** The session before, which is still valid; used again when the network refuses the newer one at its first login. */
  previous_session_id: string | null
  inbox_id: number
  events_webhook_url: string
  events_webhook_subscribers: string
  spamguard_enabled: number
  spamguard_blocks: number
  last_qr_msg_id: number
  last_error: string | null
  last_error_code: LastErrorCode | null
  created_at: number
  paired_at: number | null
  ready_at: number | null
  last_event_at: number | null
  /** Since when subscribers know that the session is down; null while they believe that it is up. */
  down_since: number | null
  /** When subscribers were told that the session stays down. */
  unreachable_at: number | null
  /** When a temporary ban ends. */
  retry_at: number | null
  network_proxy: SealedOrNull
  outgoing_rate_limit: number | null
  /** The number that logged in last, and since when it is linked; its warm-up counts from there. */
  linked_jid: Jid | null
  linked_at: number | null
  /** Since when no number is linked; null while one is. */
  unlinked_at: number | null
  /** 1: the history is imported when the account is linked, for so many days. */
  history_enabled: Generated<number>
  history_days: Generated<number>
  /** For how many days the phone was asked when the account was linked; 0 when it was not asked. */
  history_asked_days: Generated<number>
  /** The settings that the instance has of its own, as JSON. */
  own_settings: Generated<string>
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

/** The helpdesk inboxes that were identified. */
export type DestinationTable = {
  key: DestinationKey
  /** The helpdesk gives each of its inboxes an identifier that no other inbox has. */
  identifier: string
}

/** Which helpdesk inbox was found last at a place: origin, account and inbox as one text. */
export type DestinationPlaceTable = {
  place: string
  key: DestinationKey
}

/** The secret with which a helpdesk inbox signs its callbacks. */
export type WebhookSecretTable = {
  destination: DestinationKey
  /** The destination that the secret was stored for, to which its encryption is bound: the row may be moved to another one. */
  sealed_for: DestinationKey
  secret: Sealed
}

export type SessionKeyTable = {
  session_id: string
  kind: string
  key_id: string
  value: Sealed
}

export type KeptSessionTable = {
  session_id: string
  name: InstanceName
  owner_tag: string
  jid: Jid
  kept_at: number
  network_proxy: SealedOrNull
  linked_at: number | null
}

/** The session of a logout that WhatsApp has not confirmed yet. */
export type PendingLogoutTable = {
  session_id: string
  instance: InstanceName
  owner_tag: string
  asked_at: number
  network_proxy: SealedOrNull
  /** The node that opens the session. What a dead node claimed is free. */
  claimed_by: Generated<NodeId | null>
}

/** The versions that the service may introduce itself with to the network; one row. */
export type ClientVersionTable = {
  name: string
  newest: string
  worked: string | null
  refused: string | null
}

/** The network lets an account write only to people it has a chat with. */
export type RestrictionTable = {
  instance: InstanceName
  until: number
  struck_at: number
}

export const instanceSecrets = {
  table: 'instances',
  key: ['name'],
  columns: ['network_proxy'],
} as const satisfies SecretColumns

export const keptSessionSecrets = {
  table: 'kept_sessions',
  key: ['session_id'],
  columns: ['network_proxy'],
} as const satisfies SecretColumns

export const pendingLogoutSecrets = {
  table: 'pending_logouts',
  key: ['session_id'],
  columns: ['network_proxy'],
} as const satisfies SecretColumns

export const tenantSecrets = {
  table: 'tenants',
  key: ['owner_tag'],
  columns: ['downstream_api_token', 'webhook_hmac_secret'],
} as const satisfies SecretColumns

export const webhookSecretColumns = {
  table: 'webhook_secrets',
  key: ['sealed_for'],
  columns: ['secret'],
} as const satisfies SecretColumns

export const sessionKeySecrets = {
  table: 'session_keys',
  key: ['session_id', 'kind', 'key_id'],
  columns: ['value'],
} as const satisfies SecretColumns
