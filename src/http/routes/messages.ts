// The webhook for the helpdesk's callbacks, and editing of sent messages.

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { BridgeError } from '../../core/errors.ts'
import type { EditRequest } from '../../bridge/outbound/edit-message.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Clock } from '../../lib/clock.ts'
import type { HttpApp } from '../http-app.ts'
import { parseJson } from '../json-body.ts'
import { isTooLarge } from '../body-memory.ts'
import type { BodyMemory } from '../body-memory.ts'
import { InstanceParams, responses } from '../schemas.ts'
import { toWebhookReply, WebhookBody } from '../webhook/webhook-reply.ts'
import type { WebhookAnswer } from '../webhook/webhook-reply.ts'
import type { WebhookHandler } from '../webhook/webhook-handler.ts'

const smallestLimit = 5 * 1024 ** 2
/** How long a large callback waits until there is room for it. Chatwoot hangs up after 5 s. */
const waitForRoomMs = 3000

export type MessageDeps = {
  bodyLimit: number
  clock: Clock
  instances: Pick<InstanceRegistry, 'get'>
  webhook: Pick<WebhookHandler, 'screen' | 'receive'>
  /** The answer to a callback has left this process. Not called when the helpdesk has hung up before. */
  onAnswered: (answer: WebhookAnswer) => void
  edit: (request: EditRequest) => Promise<void>
}

const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['messages'] })

const EditBody = Type.Object(
  {
    chat: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The chat, as <phone>@s.whatsapp.net or <id>@g.us',
    }),
    content: Type.String({ minLength: 1, maxLength: 65_536, description: 'The new text' }),
  },
  { title: 'MessageEdit' },
)
const Edited = Type.Object({ waid: Type.String(), edited: Type.Boolean() }, { title: 'EditedMessage' })

/** The largest body that any route takes. */
export function largestBody(bodyLimit: number): number {
  return Math.max(smallestLimit, bodyLimit)
}

export function addMessageRoutes(app: HttpApp, deps: MessageDeps, bodies: BodyMemory): void {
  addWebhookRoute(app, deps, bodies)
  addEditRoute(app, deps)
}

function addWebhookRoute(
  app: HttpApp,
  { bodyLimit, clock, webhook, onAnswered }: MessageDeps,
  bodies: BodyMemory,
): void {
  const waited = new WeakMap<FastifyRequest, number>()
  app.post(
    '/api/instances/:name/webhook',
    {
      bodyLimit: largestBody(bodyLimit),
      async preParsing(request, reply) {
        const startedAt = clock.monotonic()
        if (!isTooLarge(request)) await webhook.screen(request.params.name, request.headers)
        await bodies.admitInTime(request, reply, waitForRoomMs - request.heldMs - (clock.monotonic() - startedAt))
        waited.set(request, clock.monotonic() - startedAt)
      },
      config: { public: true, unlimited: true, rawBody: true },
      schema: {
        ...about('receiveCallback', "Chatwoot's webhook: outgoing messages, deletions, Retry, typing, seen"),
        description:
          'No bearer token; signed with X-Service-Signature or X-Chatwoot-Signature when a secret is configured. ' +
          'Answered within 4 s.',
        params: Type.Object({ name: Type.String() }),
        response: responses({ 200: WebhookBody, 202: WebhookBody, 422: WebhookBody }, 401, 404),
      },
    },
    async (request, reply) => {
      const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const waitedMs = request.heldMs + (waited.get(request) ?? 0)
      const callback = { raw, headers: request.headers, waitedMs }
      const answer = await webhook.receive(request.params.name, callback, parseJson)
      reply.raw.once('finish', () => {
        onAnswered(answer)
      })
      const { status, body } = toWebhookReply(answer)
      return reply.code(status as 200).send(body as never)
    },
  )
}

function addEditRoute(app: HttpApp, { instances, edit }: MessageDeps): void {
  app.post(
    '/api/instances/:name/messages/:waid/edit',
    {
      schema: {
        ...about('editMessage', 'Change the text of a message that was sent within the last 15 minutes'),
        params: Type.Object({ ...InstanceParams.properties, waid: Type.String({ minLength: 1, maxLength: 128 }) }),
        body: EditBody,
        response: responses({ 200: Edited }, 404),
      },
    },
    async ({ params: { name, waid }, body: { chat, content } }) => {
      const { ownerTag } = instances.get(name).record
      if (content.trim() === '') throw new BridgeError('SERVICE_BAD_REQUEST', 'content must not be empty')
      await edit({ who: { instance: name, ownerTag }, waid, chat, content })
      return { waid, edited: true }
    },
  )
}
