// What the outbox stores have in common: the shape of a row, and how it is written and read.

import type { Selectable } from 'kysely'
import type { OutboxPart, OutboxPayload } from '../../../core/outbox.ts'
import type { AuditRecord } from '../../../core/audit.ts'
import type { Database } from '../../database.ts'
import { outboxSecrets } from '../../schema/messages.ts'
import type { OutboxTable } from '../../schema/messages.ts'
import { placeOf } from '../../engine/statement.ts'
import type { Secret } from '../../engine/statement.ts'

type Stored = Selectable<OutboxTable>

export const newColumns = [
  'id',
  'kind',
  'instance',
  'owner_tag',
  'inbox_id',
  'destination',
  'chat',
  'remote_jid',
  'conversation_id',
  'message_id',
  'waiting',
  'drained',
  'expires_at',
  'fingerprint',
  'created_at',
] as const

export type OutboxRow = Omit<Stored, 'payload' | 'parts'> & { parts: OutboxPart[] }
export type OpenOutboxRow = OutboxRow & { payload: OutboxPayload }
export type NewOutboxRow = Pick<Stored, (typeof newColumns)[number]> & { payload: OutboxPayload }

export type LiveRow = Pick<Stored, 'id' | 'instance' | 'chat'>

export const outboxColumns = [
  ...newColumns,
  'status',
  'attempts',
  'next_attempt_at',
  'unconfirmed',
  'parts',
  'reason',
  'report',
  'report_at',
  'settled_at',
] as const

/** A row as it is read back right after it was stored. */
export function openedRow(row: NewOutboxRow): OpenOutboxRow {
  const unsettled = { reason: null, report: 'none', report_at: null, settled_at: null } as const
  return { ...row, status: 'pending', attempts: 0, next_attempt_at: 0, unconfirmed: 0, parts: [], ...unsettled }
}

export function sealed(id: string, payload: OutboxPayload): { payload: Secret } {
  const place = placeOf(outboxSecrets.table, [id], 'payload')
  return { payload: { seal: Buffer.from(JSON.stringify(payload)), place } }
}

export function withParts<Row extends { parts: string }>({
  parts,
  ...row
}: Row): Omit<Row, 'parts'> & { parts: OutboxPart[] } {
  return { ...row, parts: JSON.parse(parts) as OutboxPart[] }
}

export function hasUnknown(parts: readonly OutboxPart[]): 0 | 1 {
  return parts.some(({ state }) => state === 'unknown') ? 1 : 0
}

/** Only what came from a message at the helpdesk can be marked there. */
export function reported(
  { message_id, conversation_id }: Pick<OutboxRow, 'message_id' | 'conversation_id'>,
  at: number,
): { report?: 'due'; report_at?: number } {
  return message_id !== null && conversation_id !== null ? { report: 'due', report_at: at } : {}
}

export function enqueued({ id, instance, owner_tag, created_at }: Omit<NewOutboxRow, 'payload'>): AuditRecord {
  return { at: created_at, actor: 'system', action: 'outbox.enqueue', instance, ownerTag: owner_tag, target: id }
}

export function settledAudit(
  action: 'outbox.failed' | 'outbox.expire',
  { id, instance, owner_tag, attempts }: OutboxRow,
  reason: string,
  at: number,
): AuditRecord {
  return { at, actor: 'system', action, instance, ownerTag: owner_tag, target: id, metadata: { attempts, reason } }
}

/** Rows about which the helpdesk is due to be told, or asked. */
export async function rowsToReport(
  database: Database,
  report: 'due' | 'asked',
  now: number,
  limit: number,
): Promise<OutboxRow[]> {
  const query = database.query
    .selectFrom('outbox')
    .select(outboxColumns)
    .where('report', '=', report)
    .where('report_at', '<=', now)
  return (await database.read(query.orderBy('report_at').limit(limit))).map(withParts)
}
