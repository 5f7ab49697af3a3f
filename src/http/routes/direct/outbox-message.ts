// What has become of one message of the outbox: for a caller whose message was queued.

import { Type } from 'typebox'
import { BridgeError } from '../../../core/errors.ts'
import { messageKinds } from '../../../core/outbox.ts'
import type { OutboxStatus } from '../../../core/outbox.ts'
import type { Roster } from '../../../instances/roster/roster.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { HttpApp } from '../../http-app.ts'
import { InstanceParams, nullable, responses, Timestamp, toTimestamp } from '../../schemas.ts'

export type OutboxMessageDeps = {
  roster: Pick<Roster, 'getCurrent'>
  outbox: Pick<OutboxStore, 'find'>
}

const shownStatus = {
  pending: 'pending',
  sending: 'pending',
  sent: 'sent',
  failed: 'failed',
  expired: 'expired',
  refused: 'failed',
} as const satisfies Record<OutboxStatus, string>

const Params = Type.Object({ ...InstanceParams.properties, queue_id: Type.String({ minLength: 1, maxLength: 64 }) })

const OutboxMessage = Type.Object(
  {
    id: Type.String({ description: 'The queue_id' }),
    instance: Type.String(),
    remote_jid: Type.String(),
    status: Type.String({ description: 'pending, sent, expired or failed' }),
    waid: nullable(Type.String({ description: 'The id of the first part at WhatsApp; null until all parts are sent' })),
    attempts: Type.Integer(),
    expires_at: nullable(Timestamp),
    error: nullable(Type.String({ description: 'Why the message was not sent, or why the last attempt failed' })),
    unconfirmed: Type.Boolean({
      description: 'The customer may have the message, although WhatsApp did not confirm it',
    }),
  },
  { title: 'OutboxMessage' },
)

export function addOutboxMessageRoutes(app: HttpApp, { roster, outbox }: OutboxMessageDeps): void {
  app.get(
    '/api/instances/:name/outbox/:queue_id',
    {
      schema: {
        operationId: 'getOutboxMessage',
        summary: 'What has become of one message',
        tags: ['messages'],
        description: 'Of a message of an agent or of a program. A message is kept for 30 days after its end.',
        params: Params,
        response: responses({ 200: OutboxMessage }, 404),
      },
    },
    async ({ params: { name, queue_id } }) => {
      await roster.getCurrent(name)
      const row = await outbox.find(queue_id)
      if (!row || row.instance !== name || !messageKinds.some((kind) => kind === row.kind)) throw notFound(queue_id)
      return toBody(row)
    },
  )
}

function toBody({ id, instance, remoteJid, status, parts, attempts, expiresAt, reason, isUnconfirmed }: OutboxRow) {
  return {
    id,
    instance,
    remote_jid: remoteJid,
    status: shownStatus[status],
    waid: status === 'sent' ? (parts[0]?.id ?? null) : null,
    attempts,
    expires_at: expiresAt === null ? null : toTimestamp(expiresAt),
    error: reason,
    unconfirmed: isUnconfirmed,
  }
}

function notFound(queueId: string): BridgeError {
  return new BridgeError('SERVICE_MESSAGE_NOT_FOUND', `there is no message "${queueId}" in the outbox of the instance`)
}
