// What is answered to a callback that asks for a message to be sent.

import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import { deletedReason } from './commands.ts'

/** Whether there was something to be marked read in the conversation the agent wrote in. */
export type Seen = { hasUnread: boolean }
/** Who has taken a message, which can be another account of the same inbox than the one that was asked. */
type Taken = { instance: string } & Seen

export type SendAnswer =
  | ({ kind: 'sent'; waid: string; queueId: string } & Taken)
  | ({ kind: 'queued'; queueId: string; expiresAt: number | null } & Taken)
  | { kind: 'ignored'; reason: 'duplicate' | 'empty'; queueId?: string }
  | { kind: 'full' }
  | { kind: 'blocked'; reason: string }
  | { kind: 'undeliverable'; code: 'no_recipient' | 'other_inbox'; reason: string }
  | { kind: 'refused'; reason: string }
  | { kind: 'late' }

export const blockedReason = 'the same message was sent to this chat within the last 30 seconds'

/** The same answer as before where that was a refusal; else there is nothing left to do. */
export function repeated({ id, status, reason, report }: OutboxRow): SendAnswer {
  // An agent has asked for it, or has deleted it: that is being followed.
  if (report === 'asked' || reason === deletedReason) return { kind: 'ignored', reason: 'duplicate', queueId: id }
  if (status === 'refused') return { kind: 'blocked', reason: reason ?? blockedReason }
  if (status === 'failed' || status === 'expired') return { kind: 'refused', reason: reason ?? 'not sent' }
  return { kind: 'ignored', reason: 'duplicate', queueId: id }
}
