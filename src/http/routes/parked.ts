// Lists, retries and deletes parked messages: received messages that the helpdesk did not accept.

import { Type } from 'typebox'
import type { InboxWorker } from '../../bridge/inbound/inbox-worker.ts'
import type { ParkedRows } from '../../bridge/inbound/parked-rows.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Roster } from '../../instances/roster/roster.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceName, InstanceParams, nullable, responses, Timestamp, toTimestamp } from '../schemas.ts'

export type ParkedDeps = {
  inbound: Pick<InboxWorker, 'retryParked'>
  parked: Pick<ParkedRows, 'list' | 'remove'>
  instances: Pick<InstanceRegistry, 'get'>
  roster: Pick<Roster, 'getCurrent'>
}

const Parked = Type.Object(
  {
    id: Type.String(),
    kind: Type.String({ description: 'What it is: message, reaction, edit, revoke, call, …' }),
    received_at: Timestamp,
    attempts: Type.Integer(),
    error: nullable(Type.String({ description: 'Why the helpdesk would not take it' })),
  },
  { title: 'ParkedMessage' },
)
const ParkedList = Type.Object({ instance: Type.String(), parked: Type.Array(Parked) }, { title: 'ParkedMessages' })
const ParkedParams = Type.Object({
  name: InstanceName,
  id: Type.String({ pattern: '^[0-9a-z]{1,40}$', description: 'the id of a parked message' }),
})

const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['messages'] })

export function addParkedRoutes(app: HttpApp, { inbound, parked, instances, roster }: ParkedDeps): void {
  app.get(
    '/api/instances/:name/parked',
    {
      schema: {
        ...about('listParked', 'Received messages that were set aside, the oldest 500'),
        params: InstanceParams,
        response: responses({ 200: ParkedList }, 404),
      },
    },
    async ({ params }) => {
      const { name } = (await roster.getCurrent(params.name)).record
      const rows = await parked.list(name)
      const messages = rows.map(({ id, kind, receivedAt, attempts, lastError }) => ({
        ...{ id, kind, attempts, received_at: toTimestamp(receivedAt) },
        error: lastError,
      }))
      return { instance: name, parked: messages }
    },
  )
  app.post(
    '/api/instances/:name/parked/retry',
    {
      schema: {
        ...about('retryParked', 'Try everything that was set aside again'),
        params: InstanceParams,
        response: responses({ 200: Type.Object({ instance: Type.String(), retried: Type.Integer() }) }, 404),
      },
    },
    async ({ params }) => {
      const { name } = instances.get(params.name).record
      return { instance: name, retried: await inbound.retryParked(name) }
    },
  )
  app.delete(
    '/api/instances/:name/parked/:id',
    {
      schema: {
        ...about('deleteParked', 'Drop a message that was set aside'),
        params: ParkedParams,
        response: responses({ 200: Type.Object({ message: Type.String() }) }, 404),
      },
    },
    async ({ params }) => {
      await parked.remove(instances.get(params.name).record.name, params.id)
      return { message: 'deleted' }
    },
  )
}
