// GET /api/events: what happens, as server-sent events.

import type { OutgoingHttpHeaders } from 'node:http'
import { Type } from 'typebox'
import type { LiveHub } from '../../../live/live-hub.ts'
import type { FastifyRequest } from 'fastify'
import type { HttpApp } from '../../http-app.ts'
import { sinkOf } from '../../live-sink.ts'
import { responses } from '../../schemas.ts'

export type EventsDeps = { hub: Pick<LiveHub, 'prepare' | 'makeRoom' | 'join' | 'dismiss' | 'close'> }

/** Calls `over` when the request would not be let in any more; returns how to stop. */
export type WatchAccess = (request: FastifyRequest, over: () => void) => () => void

const description =
  'Every event has a kind (event), a line of JSON (data) and, except for reset and bye, an id. ' +
  'hello comes first: version and boot_id of the process. ' +
  'instance: a row of GET /api/overview, or name and deleted. ' +
  'qr: name, available and expires_at. ' +
  'destination: destination, and held with reason, since and cure, or null. ' +
  'job: a job as GET /api/jobs/{id} shows it, without its result. ' +
  'delivery: id, instance, event, status and attempts of a delivery that has ended. ' +
  'alert: ts, level, message and instance of a new warning of the log. ' +
  'instance and job come at most once a second for each instance and job. ' +
  'With the header Last-Event-ID, the stream goes on after that event. reset says that events in between are not known any ' +
  'more: read everything again. With several nodes the stream tells what happens at all of them, and reset also comes when a ' +
  'node joins, ends or was out of reach. The last 500 events are kept, and none while no listener was connected for a minute. ' +
  'More than 128 KB are not sent again. ' +
  'bye is the last event: stopping, slow (more than 256 KB were not read), full (a newer listener of the same session took ' +
  'the place) or expired (the session has ended). ' +
  'A comment comes every 15 s. At most 32 listeners are served, and at most a quarter of SERVICE_MAX_CONNECTIONS.'

export function addEventsRoute(app: HttpApp, { hub }: EventsDeps, watchAccess: WatchAccess): void {
  app.get(
    '/api/events',
    {
      // A HEAD request would open a stream that has no body.
      exposeHeadRoute: false,
      schema: {
        operationId: 'listenToEvents',
        tags: ['observability'],
        summary: 'What happens, as server-sent events',
        description,
        produces: ['text/event-stream'],
        response: responses({ 200: Type.String() }, 503),
      },
    },
    async (request, reply) => {
      const session = request.dashboardSession?.id ?? null
      await hub.prepare()
      const { raw } = reply
      // It has hung up meanwhile.
      if (raw.destroyed) return reply.hijack()
      hub.makeRoom(session)
      reply.headers({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // Otherwise nginx collects events before it passes them on.
        'x-accel-buffering': 'no',
      })
      // From here on the connection belongs to the stream. The limit for reading an answer does not fit an endless one.
      reply.hijack()
      raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
      const sink = sinkOf(raw)
      const leave = hub.join(sink, lastEventId(request.headers['last-event-id']), session)
      const unwatch = watchAccess(request, () => {
        hub.dismiss(sink, 'expired')
      })
      raw.once('close', () => {
        leave()
        unwatch()
      })
    },
  )
  app.addHook('preClose', (done) => {
    hub.close()
    done()
  })
}

function lastEventId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined
}
