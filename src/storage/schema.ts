// All tables as Kysely sees them. Times are epoch milliseconds, flags 0 or 1, JSON is text: alike on both engines.

import type { Selectable } from 'kysely'
import type { DestinationKey } from '../core/ids.ts'
import type { SecretColumns } from './engine/statement.ts'
import {
  instanceSecrets,
  keptSessionSecrets,
  pendingLogoutSecrets,
  sessionKeySecrets,
  tenantSecrets,
  webhookSecretColumns,
} from './schema/accounts.ts'
import type {
  ClientVersionTable,
  DestinationPlaceTable,
  DestinationTable,
  InstanceTable,
  KeptSessionTable,
  LeaseTable,
  PendingLogoutTable,
  RestrictionTable,
  SessionKeyTable,
  TenantTable,
  WebhookSecretTable,
} from './schema/accounts.ts'
import { historyMessageSecrets } from './schema/history.ts'
import type { HistoryChatTable, HistoryMessageTable, ImportChatTable, MessageDateTable } from './schema/history.ts'
import type { JobTable } from './schema/jobs.ts'
import type { LabelAgreementTable, LabelledChatTable, LabelTable } from './schema/labels.ts'
import { deliverySecrets } from './schema/ledger.ts'
import type { AuditTable, DeliveryTable, UsageBatchTable, UsageTable } from './schema/ledger.ts'
import type { LastMessageTable, StateChangeTable } from './schema/live.ts'
import { inboxSecrets, messageMapSecrets, outboxSecrets, unfinishedSecrets } from './schema/messages.ts'
import type {
  FirstCallbackTable,
  InboxTable,
  MessageMapTable,
  OpenedTable,
  OutboxTable,
  OutboxTotalsTable,
  RejectedCallTable,
  RequestKeyTable,
  SettledCallbackTable,
  UnfinishedTable,
} from './schema/messages.ts'
import type {
  AssignmentsTable,
  ClusterTable,
  MovesTable,
  NodesTable,
  NodeVersionsTable,
  PastMovesTable,
} from './schema/nodes.ts'
import type {
  ContactPictureTable,
  ContactTable,
  ConversationChatTable,
  ConversationTable,
  PersonPhoneTable,
  PersonTable,
} from './schema/people.ts'
import type { SealingKeyTable } from './schema/sealed.ts'

export type Schema = {
  sealing_keys: SealingKeyTable
  lease: LeaseTable
  instances: InstanceTable
  tenants: TenantTable
  destinations: DestinationTable
  destination_places: DestinationPlaceTable
  webhook_secrets: WebhookSecretTable
  usage: UsageTable
  usage_batches: UsageBatchTable
  audit: AuditTable
  session_keys: SessionKeyTable
  kept_sessions: KeptSessionTable
  pending_logouts: PendingLogoutTable
  opened: OpenedTable
  unfinished: UnfinishedTable
  inbox: InboxTable
  people: PersonTable
  person_phones: PersonPhoneTable
  contacts: ContactTable
  contact_pictures: ContactPictureTable
  conversations: ConversationTable
  conversation_chats: ConversationChatTable
  message_map: MessageMapTable
  deliveries: DeliveryTable
  outbox: OutboxTable
  outbox_totals: OutboxTotalsTable
  settled_callbacks: SettledCallbackTable
  request_keys: RequestKeyTable
  first_callbacks: FirstCallbackTable
  rejected_calls: RejectedCallTable
  restrictions: RestrictionTable
  client_version: ClientVersionTable
  history_messages: HistoryMessageTable
  history_chats: HistoryChatTable
  jobs: JobTable
  import_chats: ImportChatTable
  message_dates: MessageDateTable
  labels: LabelTable
  labelled_chats: LabelledChatTable
  label_agreements: LabelAgreementTable
  state_changes: StateChangeTable
  last_messages: LastMessageTable
  nodes: NodesTable
  node_versions: NodeVersionsTable
  assignments: AssignmentsTable
  moves: MovesTable
  past_moves: PastMovesTable
  cluster: ClusterTable
}

/** Every table with sealed columns: the boot checks that the configured keys open them. */
export const secretTables: readonly SecretColumns[] = [
  tenantSecrets,
  webhookSecretColumns,
  sessionKeySecrets,
  instanceSecrets,
  keptSessionSecrets,
  pendingLogoutSecrets,
  unfinishedSecrets,
  inboxSecrets,
  messageMapSecrets,
  deliverySecrets,
  outboxSecrets,
  historyMessageSecrets,
]

type OfDestination = {
  [Table in keyof Schema]: Selectable<Schema[Table]> extends { destination: DestinationKey | null } ? Table : never
}[keyof Schema]

/**
 * Every table whose rows belong to a destination, with the columns that are unique together with it; null when no columns
 * are. When a destination turns out to be another one, its rows are moved.
 */
export const destinationTables: { readonly [Table in OfDestination]: readonly (keyof Schema[Table])[] | null } = {
  contacts: ['source_id'],
  contact_pictures: ['contact_id'],
  conversations: ['instance', 'chat'],
  conversation_chats: ['conversation_id', 'instance', 'chat'],
  message_map: ['instance', 'chat', 'sender', 'network_id', 'kind'],
  outbox: null,
  settled_callbacks: ['kind', 'event_id'],
  first_callbacks: [],
  webhook_secrets: [],
  message_dates: ['message_id'],
  import_chats: null,
  label_agreements: null,
}
