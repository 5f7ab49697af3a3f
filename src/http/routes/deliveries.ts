// The lifecycle deliveries of an instance: the results of the newest, and sending one again.

import { Type } from 'typebox'
import { lifecycleEvents } from '../../core/lifecycle/lifecycle.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Roster } from '../../instances/roster/roster.ts'
import type { Lifecycle } from '../../lifecycle/lifecycle.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceName, InstanceParams, nullable, responses, Timestamp, toTimestamp } from '../schemas.ts'

export type DeliveryDeps = {
  instances: Pick<InstanceRegistry, 'get'>
  roster: Pick<Roster, 'getCurrent'>
  lifecycle: Pick<Lifecycle, 'report' | 'redeliver'>
}

const Report = Type.Object(
  {
    id: Type.String(),
    event_id: Type.String({ description: 'the id in the payload, the same for every subscriber' }),
    event: Type.String({ enum: [...lifecycleEvents] }),
    subscriber: Type.String({ description: 'its URL, without user, password and query' }),
    attempts: Type.Integer(),
    status: Type.String({ enum: ['pending', 'delivered', 'exhausted', 'refused', 'dropped'] }),
    last_code: nullable(Type.Integer({ description: 'what the subscriber answered last' })),
    last_error: nullable(Type.String()),
    created_at: Timestamp,
    next_attempt_at: nullable(Timestamp),
    finished_at: nullable(Timestamp),
  },
  { title: 'Delivery' },
)

const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['lifecycle'] })

export function addDeliveryRoutes(app: HttpApp, { instances, roster, lifecycle }: DeliveryDeps): void {
  app.get(
    '/api/instances/:name/deliveries',
    {
      schema: {
        ...about('listDeliveries', 'The last 100 lifecycle deliveries of an instance, newest first'),
        params: InstanceParams,
        response: responses({ 200: Type.Array(Report) }, 404),
      },
    },
    async ({ params: { name } }) => {
      await roster.getCurrent(name)
      return (await lifecycle.report(name)).map(({ id, event, attempts, status, ...more }) => ({
        id,
        event_id: more.eventId,
        event,
        subscriber: plainUrl(more.url),
        attempts,
        status,
        last_code: more.lastCode,
        last_error: more.lastError,
        created_at: toTimestamp(more.createdAt),
        next_attempt_at: status === 'pending' ? toTimestamp(more.nextAt) : null,
        finished_at: more.finishedAt === null ? null : toTimestamp(more.finishedAt),
      }))
    },
  )

  app.post(
    '/api/instances/:name/deliveries/:id/redeliver',
    {
      schema: {
        ...about('redeliver', 'Sends a delivery that has ended once more, with the id and body it had'),
        params: Type.Object({ name: InstanceName, id: Type.String({ minLength: 1, maxLength: 64 }) }),
        response: responses({ 200: Type.Object({ message: Type.String() }) }, 404, 409),
      },
    },
    async ({ params: { name, id } }) => {
      instances.get(name)
      await lifecycle.redeliver(name, id)
      return { message: 'on its way again' }
    },
  )
}

/** Without user info and query: they may hold secrets of the subscriber. */
function plainUrl(text: string): string {
  const url = new URL(text)
  return url.origin + url.pathname
}
