// The answers to a callback that asks to send a message.

import type { InstanceName, Jid, NetworkMessageId, RowId } from '../../../core/ids.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import { isAskedFor, lacksCallback } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import { deletedReason } from './commands.ts'
import { historyOnlyReason, importedReason } from './import-refusal.ts'
import type { ImportRefusal } from './import-refusal.ts'

/** Whether the conversation has messages that the agent has now seen. */
export type Seen = { hasUnread: boolean }
/**
 * The instance that accepted the message. It can differ from the one that was asked, when both share a helpdesk inbox.
 * `address`: where the chat last wrote from. `isInTime`: the helpdesk still waits for the answer.
 */
type Taken = { instance: InstanceName; address: Jid; isInTime?: boolean } & Seen

export type UndeliverableCode =
  'no_recipient' | 'other_inbox' | 'too_long' | 'too_many_files' | 'no_file' | 'too_old' | ImportRefusal['code']

export type SendAnswer =
  | ({ kind: 'sent'; waid: NetworkMessageId; queueId: RowId } & Taken)
  | ({ kind: 'queued'; queueId: RowId; expiresAt: number | null } & Taken)
  | { kind: 'ignored'; reason: 'duplicate' | 'empty'; queueId?: RowId }
  | { kind: 'full'; reason: string }
  | { kind: 'blocked'; reason: string }
  | { kind: 'undeliverable'; code: UndeliverableCode; reason: string }
  | { kind: 'refused'; reason: string }
  | { kind: 'late' }

/** The answers to a program that asks to send a direct message. */
export type DirectAnswer =
  | { kind: 'sent'; waid: NetworkMessageId; queueId: RowId }
  | { kind: 'queued'; queueId: RowId; expiresAt: number | null }
  | { kind: 'full' | 'blocked' | 'refused'; reason: string }
  | { kind: 'late' }

/** The row of the message that the helpdesk shows as sent after it got this answer. */
export function rowShownSent(answer: { kind: string } | SendAnswer): RowId | undefined {
  return 'isInTime' in answer && answer.isInTime ? answer.queueId : undefined
}

export const blockedReason = writeReason('repeated')

export const tooOldReason = writeReason('tooOld')

/** Refusals of messages that could be delivered from here otherwise. */
const codesOfReasons: ReadonlyMap<string | null, UndeliverableCode> = new Map([
  [tooOldReason, 'too_old'],
  [importedReason, 'history_import'],
  [historyOnlyReason, 'history_conversation'],
])

/** The answer to a repeated callback: a refusal is repeated, everything else needs no further work. */
export function repeated(row: OutboxRow): SendAnswer {
  const { id, status, reason } = row
  // The agent asked for the message again, or deleted it. That is handled already.
  if (isAskedFor(row) || lacksCallback(row) || reason === deletedReason) {
    return { kind: 'ignored', reason: 'duplicate', queueId: id }
  }
  const code = codesOfReasons.get(reason)
  if (status === 'refused' && reason !== null && code) return { kind: 'undeliverable', code, reason }
  if (status === 'refused') return { kind: 'blocked', reason: reason ?? blockedReason }
  if (status === 'failed' || status === 'expired') return { kind: 'refused', reason: reason ?? writeReason('notSent') }
  return { kind: 'ignored', reason: 'duplicate', queueId: id }
}
