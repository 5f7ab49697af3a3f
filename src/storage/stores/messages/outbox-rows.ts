// The rows of the outbox: their shape outside the stores, and the translation from and to the columns of the table.

import type { Selectable } from 'kysely'
import type { AuditRecord } from '../../../core/audit.ts'
import type { ChatId, DestinationKey, InstanceName, Jid, RowId } from '../../../core/ids.ts'
import { wordsOf } from '../../../core/outbox.ts'
import type { OutboxPart, OutboxPayload, OutboxStatus } from '../../../core/outbox.ts'
import type { Shown } from '../../../core/shown.ts'
import { outboxSecrets } from '../../schema/messages.ts'
import type { OutboxTable } from '../../schema/messages.ts'
import { placeOf } from '../../engine/statement.ts'
import type { Secret } from '../../engine/statement.ts'

/** What is known of a message when it is accepted. */
type AcceptedRow = {
  /** Sorts in the order of acceptance. */
  id: RowId
  kind: OutboxPayload['type']
  instance: InstanceName
  ownerTag: string
  /** The helpdesk inbox of the instance at that time, which is the way back to the helpdesk. */
  inboxId: number
  destination: DestinationKey
  /** Messages of one chat leave one after the other. */
  chatId: ChatId
  remoteJid: Jid
  conversationId: number | null
  messageId: number | null
  /** The row waits for a connection or for its pace. The number of such rows is limited. */
  isWaiting: boolean
  /** The row has waited for a connection, and leaves at the drain rate. */
  isDrained: boolean
  /** While the row waits for a connection: when it expires. After a failure: until when the Retry of the agent counts. */
  expiresAt: number | null
  /** What the spamguard compares. */
  fingerprint: string | null
  createdAt: number
}

export type OutboxRow = AcceptedRow & {
  status: OutboxStatus
  attempts: number
  nextAttemptAt: number
  /** A frame may have left, and the network has not acknowledged it. */
  isUnconfirmed: boolean
  parts: OutboxPart[]
  reason: string | null
  /** What the helpdesk showed of the message when we last knew. */
  shown: Shown
  /** When to look at the helpdesk; null when there is no reason to. */
  lookAt: number | null
  settledAt: number | null
}
export type OpenOutboxRow = OutboxRow & { payload: OutboxPayload }
export type NewOutboxRow = AcceptedRow & { payload: OutboxPayload }
export type LiveRow = Pick<
  OutboxRow,
  'id' | 'kind' | 'instance' | 'chatId' | 'destination' | 'conversationId' | 'messageId'
>

/** `isSending`: the frame of the row may be leaving. `isLimitless`: the row would wait for a connection without a time limit. */
export type TakenRow = LiveRow & { isSending: boolean; isLimitless: boolean }

export const acceptedColumns = [
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

export const outboxColumns = [
  ...acceptedColumns,
  'status',
  'attempts',
  'next_attempt_at',
  'unconfirmed',
  'parts',
  'reason',
  'shown',
  'look_at',
  'settled_at',
] as const

type Columns = Pick<Selectable<OutboxTable>, (typeof outboxColumns)[number]>

export function toColumns(row: AcceptedRow): Pick<Columns, (typeof acceptedColumns)[number]> {
  return {
    id: row.id,
    kind: row.kind,
    instance: row.instance,
    owner_tag: row.ownerTag,
    inbox_id: row.inboxId,
    destination: row.destination,
    chat: row.chatId,
    remote_jid: row.remoteJid,
    conversation_id: row.conversationId,
    message_id: row.messageId,
    waiting: toFlag(row.isWaiting),
    drained: toFlag(row.isDrained),
    expires_at: row.expiresAt,
    fingerprint: row.fingerprint,
    created_at: row.createdAt,
  }
}

export function fromColumns(row: Columns): OutboxRow {
  return {
    id: row.id,
    kind: row.kind,
    instance: row.instance,
    ownerTag: row.owner_tag,
    inboxId: row.inbox_id,
    destination: row.destination,
    chatId: row.chat,
    remoteJid: row.remote_jid,
    conversationId: row.conversation_id,
    messageId: row.message_id,
    isWaiting: row.waiting === 1,
    isDrained: row.drained === 1,
    expiresAt: row.expires_at,
    fingerprint: row.fingerprint,
    createdAt: row.created_at,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    isUnconfirmed: row.unconfirmed === 1,
    parts: JSON.parse(row.parts) as OutboxPart[],
    reason: row.reason,
    shown: row.shown,
    lookAt: row.look_at,
    settledAt: row.settled_at,
  }
}

export function toFlag(value: boolean): 0 | 1 {
  return value ? 1 : 0
}

/** A row as `open` would read it right after it was stored. */
export function openedRow(row: NewOutboxRow): OpenOutboxRow {
  const unsettled = { reason: null, shown: 'unsure', lookAt: null, settledAt: null } as const
  return { ...row, status: 'pending', attempts: 0, nextAttemptAt: 0, isUnconfirmed: false, parts: [], ...unsettled }
}

export function sealed(id: RowId, payload: OutboxPayload): { payload: Secret } {
  const place = placeOf(outboxSecrets.table, [id], 'payload')
  return { payload: { seal: Buffer.from(JSON.stringify(payload)), place } }
}

/** A refused row without a chat, or of a direct message, can never be sent. So its content is not kept. */
export function sealedForRetry({ id, chatId, payload }: NewOutboxRow): { payload: Secret | null } {
  return chatId === '' || payload.type === 'direct' ? { payload: null } : sealed(id, payload)
}

export function hasUnknown(parts: readonly OutboxPart[]): 0 | 1 {
  return toFlag(parts.some(({ state }) => state === 'unknown'))
}

/** The words of a row that carries a message. */
export function wordsIn({ payload }: NewOutboxRow): ReturnType<typeof wordsOf> {
  return payload.type === 'revoke' ? { content: '', attachments: [] } : wordsOf(payload)
}

/** A look is planned only for rows that came from a message at the helpdesk. */
export function lookPlanned(
  { messageId, conversationId }: Pick<OutboxRow, 'messageId' | 'conversationId'>,
  at: number,
): { look_at: number | null } {
  return { look_at: messageId !== null && conversationId !== null ? at : null }
}

/** The agent may have pressed Retry, and we have not looked yet. */
export function isAskedFor({ lookAt, expiresAt, settledAt }: OutboxRow): boolean {
  return settledAt !== null && lookAt !== null && expiresAt !== null
}

/** The row was made from a change of its message, and the callback of the message has not come. */
export function lacksCallback({ status, reason }: Pick<OutboxRow, 'status' | 'reason'>): boolean {
  return status === 'refused' && reason === null
}

export function enqueued({ id, instance, ownerTag, createdAt }: AcceptedRow): AuditRecord {
  return { at: createdAt, actor: 'system', action: 'outbox.enqueue', instance, ownerTag, target: id }
}

export function settledAudit(
  action: 'outbox.failed' | 'outbox.expire',
  { id, instance, ownerTag, attempts }: OutboxRow,
  reason: string,
  at: number,
): AuditRecord {
  return { at, actor: 'system', action, instance, ownerTag, target: id, metadata: { attempts, reason } }
}

/** The ids of the parts that are about to leave, and where to. */
export type FirstClaim = { parts: readonly OutboxPart[]; address: Jid }

export function claimColumns({ remoteJid }: NewOutboxRow, claim: FirstClaim | undefined) {
  if (!claim) return { status: 'pending', attempts: 0, unconfirmed: 0, parts: '[]', remote_jid: remoteJid }
  const parts = JSON.stringify(claim.parts)
  return { status: 'sending', attempts: 1, unconfirmed: 1, parts, remote_jid: claim.address }
}
