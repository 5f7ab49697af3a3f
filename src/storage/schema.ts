// All tables as Kysely sees them. Times are epoch milliseconds, flags 0 or 1, JSON is text: alike on both engines.

import type { SecretColumns } from './engine/statement.ts'
import { sessionKeySecrets, tenantSecrets } from './schema/accounts.ts'
import type {
  InstanceTable,
  KeptSessionTable,
  LeaseTable,
  RestrictionTable,
  SessionKeyTable,
  TenantTable,
} from './schema/accounts.ts'
import { deliverySecrets } from './schema/ledger.ts'
import type { AuditTable, DeliveryTable, UsageTable } from './schema/ledger.ts'
import { inboxSecrets, messageMapSecrets, outboxSecrets, unfinishedSecrets } from './schema/messages.ts'
import type {
  CallbackTable,
  FirstCallbackTable,
  InboxTable,
  MessageMapTable,
  OpenedTable,
  OutboxTable,
  OutboxTotalsTable,
  UnfinishedTable,
} from './schema/messages.ts'
import type { ContactTable, ConversationTable, PersonTable } from './schema/people.ts'

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
  first_callbacks: FirstCallbackTable
  restrictions: RestrictionTable
}

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
