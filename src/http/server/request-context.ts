// Gives every request its ids, for the logs and for the caller, and writes one log line per request.

import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const printable = /^[\x20-\x7e]{1,128}$/

export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return traceHeader(headers, 'x-request-id') ?? randomUUID()
}

export function addRequestContext(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    echoTraceIds(request, reply)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const line = {
      migration_id: traceHeader(request.headers, 'x-migration-id'),
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      instance: instanceOf(request.params),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    }
    // Probes come every few seconds; their lines would hide the others.
    const level = request.routeOptions.config.unlimited && reply.statusCode < 400 ? 'debug' : 'info'
    request.log[level](line, 'request answered')
    done()
  })
}

export function echoTraceIds(request: FastifyRequest, reply: FastifyReply): void {
  const migrationId = traceHeader(request.headers, 'x-migration-id')
  void reply.header('x-request-id', request.id)
  if (migrationId !== undefined) void reply.header('x-migration-id', migrationId)
}

function instanceOf(params: unknown): string | undefined {
  const name = typeof params === 'object' && params !== null && 'name' in params ? params.name : undefined
  return typeof name === 'string' ? name.slice(0, 64) : undefined
}

function traceHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' && printable.test(value) ? value : undefined
}
