// Sends a message for a program, to a number or a chat.

import { Type } from 'typebox'
import type { DirectMessages } from '../../../bridge/outbound/direct/direct-messages.ts'
import type { InstanceRegistry } from '../../../instances/instance-registry.ts'
import type { HttpApp } from '../../http-app.ts'
import { InstanceParams, nullable, responses, Timestamp } from '../../schemas.ts'
import { toWebhookReply } from '../../webhook/webhook-reply.ts'
import { DirectMessageBody, readMessage } from './direct-message-body.ts'

export type DirectMessageDeps = {
  instances: Pick<InstanceRegistry, 'get'>
  direct: Pick<DirectMessages, 'send'>
}

const SentBody = Type.Object(
  { status: Type.Literal('sent'), waid: Type.String(), queue_id: Type.String() },
  { title: 'SentMessage' },
)
const QueuedBody = Type.Object(
  { status: Type.Literal('queued'), queue_id: Type.String(), expires_at: nullable(Timestamp) },
  { title: 'QueuedMessage' },
)
const BlockedBody = Type.Object(
  { status: Type.Literal('blocked'), error: Type.String(), error_code: Type.String() },
  { title: 'BlockedMessage' },
)

export function addDirectMessageRoutes(app: HttpApp, { instances, direct }: DirectMessageDeps): void {
  app.post(
    '/api/instances/:name/messages',
    {
      schema: {
        operationId: 'sendMessage',
        summary: 'Send a message to a number or a chat',
        tags: ['messages'],
        description:
          'Answered within 4 s. 200: WhatsApp has the message. 202: it waits, or its outcome is not known yet. ' +
          '422: it repeats the message before it. 500 SERVICE_MESSAGE_REFUSED: it will not be sent. ' +
          '503: too many messages wait. The message appears in the conversation once it is sent.',
        params: InstanceParams,
        body: DirectMessageBody,
        response: responses({ 200: SentBody, 202: QueuedBody, 422: BlockedBody }, 404, 409, 413),
      },
    },
    async ({ params: { name }, body }, reply) => {
      instances.get(name)
      const key = body.idempotency_key === undefined ? undefined : `api:${body.idempotency_key}`
      const answer = toWebhookReply(await direct.send(name, readMessage(body), { key }))
      return reply.code(answer.status as 200).send(answer.body as never)
    },
  )
}
