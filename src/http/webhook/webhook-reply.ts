// The answers to the helpdesk: a 2xx leaves its message as it is, any other status marks it failed.

import { Type } from 'typebox'
import type { DirectAnswer, SendAnswer, UndeliverableCode } from '../../bridge/outbound/accept/send-answer.ts'
import type { OutgoingCommand } from '../../core/helpdesk/callback.ts'
import { statusOfCode } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { DestinationKey } from '../../core/ids.ts'
import { nullable, Timestamp, toTimestamp } from '../schemas.ts'

export type IgnoredReason = Extract<OutgoingCommand, { kind: 'ignored' }>['reason'] | 'operations'
/** `changed`: the message whose change was followed, if the change can be one of its status that we made. */
type Followed = { kind: 'followed'; changed?: { destination: DestinationKey; messageId: number } }
export type WebhookAnswer = SendAnswer | { kind: 'ignored'; reason: IgnoredReason } | Followed

export const WebhookBody = Type.Object(
  {
    status: Type.String({ description: 'sent, queued, ignored, ok, blocked or rejected' }),
    reason: Type.Optional(Type.String()),
    waid: Type.Optional(Type.String({ description: 'Network id of the first part' })),
    queue_id: Type.Optional(Type.String()),
    expires_at: Type.Optional(nullable(Timestamp)),
    error: Type.Optional(Type.String()),
    error_code: Type.Optional(Type.String()),
  },
  { title: 'CallbackAnswer' },
)

const errorOf: Record<UndeliverableCode, ErrorCode> = {
  no_recipient: 'SERVICE_NO_RECIPIENT',
  other_inbox: 'SERVICE_OTHER_INBOX',
  too_long: 'SERVICE_MESSAGE_UNSENDABLE',
  too_many_files: 'SERVICE_MESSAGE_UNSENDABLE',
  no_file: 'SERVICE_MESSAGE_UNSENDABLE',
  too_old: 'SERVICE_CALLBACK_TOO_OLD',
  history_import: 'SERVICE_MESSAGE_UNSENDABLE',
  history_conversation: 'SERVICE_MESSAGE_UNSENDABLE',
}

export type WebhookReply = { status: number; body: Record<string, unknown> }

export function toWebhookReply(answer: WebhookAnswer | DirectAnswer): WebhookReply {
  switch (answer.kind) {
    case 'sent':
      return { status: 200, body: { status: 'sent', waid: answer.waid, queue_id: answer.queueId } }
    case 'queued': {
      const expires_at = answer.expiresAt === null ? null : toTimestamp(answer.expiresAt)
      return { status: 202, body: { status: 'queued', queue_id: answer.queueId, expires_at } }
    }
    case 'followed':
      return { status: 200, body: { status: 'ok' } }
    case 'ignored': {
      const queueId = 'queueId' in answer ? { queue_id: answer.queueId } : {}
      return { status: 200, body: { status: 'ignored', reason: answer.reason, ...queueId } }
    }
    case 'blocked':
      return refusal('SERVICE_SPAM_BLOCKED', answer.reason, { status: 'blocked' })
    case 'undeliverable':
      return refusal(errorOf[answer.code], answer.reason, { status: 'rejected', reason: answer.code })
    case 'refused':
      return refusal('SERVICE_MESSAGE_REFUSED', answer.reason)
    case 'full':
      return refusal('SERVICE_OUTBOX_FULL', answer.reason)
    case 'late':
      return refusal('SERVICE_STORAGE_FAILED', 'the database did not take the message in time; it will not be sent')
  }
}

function refusal(code: ErrorCode, error: string, more: Record<string, unknown> = {}): WebhookReply {
  return { status: statusOfCode[code], body: { ...more, error, error_code: code } }
}
