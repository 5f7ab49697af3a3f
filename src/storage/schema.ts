// The tables as Kysely sees them. Times are epoch milliseconds, flags 0 or 1, JSON is text: alike on both engines.

import type { ColumnType, Generated } from 'kysely'
import type { DeliveryStatus } from '../core/delivery.ts'
import type { InstanceState } from '../core/instance.ts'
import type { LifecycleEvent } from '../core/lifecycle.ts'
import type { OutboxPayload, OutboxReport, OutboxStatus } from '../core/outbox.ts'
import type { Secret, SecretColumns } from './engine/statement.ts'

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
  /** Since when subscribers were told that the session is down, until they hear that it is back. */
  down_since: number | null
  /** When they were told that it stays down. */
  unreachable_at: number | null
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

/** Envelopes that were opened: the network delivers again what it believes unreceived, and a key opens once. */
export type OpenedTable = {
  session_id: string
  envelope: string
  opened_at: number
}

/** Stanzas whose meaning is the library's own business, until it has acted on them. */
export type UnfinishedTable = {
  session_id: string
  stanza_id: string
  stored_at: number
  stanza: Sealed
}

export type InboxTable = {
  /** Sorts in the order of arrival. */
  id: string
  instance: string
  event: Sealed
  received_at: number
  state: Generated<'pending' | 'parked'>
  attempts: Generated<number>
  kind: string
  last_error: string | null
}

export type PersonTable = {
  instance: string
  id: string
  phone: string | null
  lid: string | null
  push_name: string | null
  saved_name: string | null
}

export type ContactTable = {
  destination: string
  source_id: string
  contact_id: number
  /** 1 when we created it. */
  ours: number
  name: string
  /** When the creation of a conversation began whose outcome is not known yet. */
  opening_since: Generated<number | null>
}

export type ConversationTable = {
  instance: string
  destination: string
  /** A group's jid, or the id of a person. */
  chat: string
  conversation_id: number
  contact_id: number
  source_id: string
  used_at: number
}

/** Which message of the network is which at the helpdesk; a row is claimed before the message is posted. */
export type MessageMapTable = {
  id: string
  instance: string
  destination: string
  chat: string
  sender: string
  network_id: string
  /** What of that message: itself, its reaction, a notice about it, a file that came later. */
  kind: string
  /** in: written by others; echo: on the owner's phone; out: sent by us for an agent. */
  direction: 'in' | 'echo' | 'out'
  /** A MessageKey as JSON. */
  network_key: string
  network_at: number
  conversation_id: number | null
  message_id: number | null
  claimed_at: number
  /** When the POST under way began, and the newest message id known before it. */
  posting_since: number | null
  posting_after: number | null
  read_at: number | null
  /** What later quotes, votes and edits need of it. */
  content: SealedOrNull
}

/** A message on its way to the network. */
export type OutboxTable = {
  /** Sorts in the order of acceptance. */
  id: string
  kind: OutboxPayload['type']
  instance: string
  owner_tag: string
  /** The inbox of the instance when it was accepted: the route back to the helpdesk. */
  inbox_id: number
  destination: string
  /** As in conversations: messages of one chat leave one after the other. */
  chat: string
  remote_jid: string
  conversation_id: number | null
  message_id: number | null
  status: OutboxStatus
  /** 1 while it waits for a connection or for its pace; such rows are limited. */
  waiting: number
  /** 1 when it has waited for a connection: it leaves at the drain rate. */
  drained: number
  /** Only while it waits for a connection. */
  expires_at: number | null
  attempts: Generated<number>
  next_attempt_at: Generated<number>
  /** 1 when a frame may have left that nobody has acknowledged. */
  unconfirmed: Generated<number>
  /** OutboxPart[] as JSON. */
  parts: Generated<string>
  /** OutboxPayload as JSON; dropped once sent. */
  payload: SealedOrNull
  /** What the spamguard compares. */
  fingerprint: string | null
  reason: string | null
  report: Generated<OutboxReport>
  /** When to report, or when the report was confirmed. */
  report_at: number | null
  created_at: number
  settled_at: number | null
}

/** Over all history; rows that are settled are kept for a while only. */
export type OutboxTotalsTable = {
  instance: string
  sent: Generated<number>
  expired: Generated<number>
  failed: Generated<number>
}

/** Callbacks that have been settled: a repeat is answered and does nothing. */
export type CallbackTable = {
  instance: string
  destination: string
  kind: string
  event_id: number
  outbox_id: string
  settled_at: number
}

/** The network lets an account write only to people it has a chat with. */
export type RestrictionTable = {
  instance: string
  until: number
  struck_at: number
}

export type DeliveryTable = {
  id: string
  event_id: string
  event: LifecycleEvent
  instance: string
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

export type Schema = {
  lease: LeaseTable
  instances: InstanceTable
  tenants: TenantTable
  usage: UsageTable
  audit: AuditTable
  session_keys: SessionKeyTable
  kept_sessions: KeptSessionTable
  opened: OpenedTable
  unfinished: UnfinishedTable
  inbox: InboxTable
  people: PersonTable
  contacts: ContactTable
  conversations: ConversationTable
  message_map: MessageMapTable
  deliveries: DeliveryTable
  outbox: OutboxTable
  outbox_totals: OutboxTotalsTable
  callbacks: CallbackTable
  restrictions: RestrictionTable
}

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

export const unfinishedSecrets = {
  table: 'unfinished',
  key: ['session_id', 'stanza_id'],
  columns: ['stanza'],
} as const satisfies SecretColumns

export const inboxSecrets = { table: 'inbox', key: ['id'], columns: ['event'] } as const satisfies SecretColumns

export const messageMapSecrets = {
  table: 'message_map',
  key: ['id'],
  columns: ['content'],
} as const satisfies SecretColumns

export const deliverySecrets = { table: 'deliveries', key: ['id'], columns: ['body'] } as const satisfies SecretColumns
export const outboxSecrets = { table: 'outbox', key: ['id'], columns: ['payload'] } as const satisfies SecretColumns

/** Every table with sealed columns: the boot checks that the configured keys open them. */
export const secretTables: readonly SecretColumns[] = [
  tenantSecrets,
  sessionKeySecrets,
  unfinishedSecrets,
  inboxSecrets,
  messageMapSecrets,
  deliverySecrets,
  outboxSecrets,
]
