// Turns a thrown error into the answer of Chatwoot, and logs refusals.

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { RailsError } from '../desk/rails-error.ts'
import { UnreadableBody } from './body-parsers.ts'
import { RequestLost } from './fault-gate.ts'
import type { HttpApp } from './http-app.ts'
import { refuse } from './office.ts'
import type { Office } from './office.ts'

export const notFoundPage =
  '<!DOCTYPE html>\n<html lang="en">\n<head><title>Page not found</title></head>\n<body><h1>404</h1></body>\n</html>\n'

const tooLargePage = '<html><head><title>413 Request Entity Too Large</title></head></html>\n'

export function addErrorReplies(app: HttpApp, office: Office): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof RailsError) return sendRailsError(error, request, reply)
    if (error instanceof RequestLost) {
      reply.hijack()
      request.raw.socket.destroy()
      return undefined
    }
    // This answer comes from the proxy before Chatwoot.
    if (error.statusCode === 413) return reply.code(413).type('text/html').send(tooLargePage)
    return sendRefusal(office, error, request, reply)
  })
  app.setNotFoundHandler((request, reply) => {
    refuse(office, {
      kind: 'unknown_route',
      method: request.method,
      path: request.url,
      reason: 'there is no such route',
    })
    return reply.code(404).type('text/html').send(notFoundPage)
  })
}

/** The public API has its own body for a missing record. */
function sendRailsError({ status, body }: RailsError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.code(status)
  if (status === 404 && request.url.startsWith('/public/')) return reply.send({ status, error: 'Not Found' })
  if (body === null) return reply.send()
  return typeof body === 'string' ? reply.type('text/plain').send(body) : reply.send(body)
}

function sendRefusal(office: Office, error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = error.statusCode ?? 500
  const kind = status < 500 ? 'bad_request' : 'bad_response'
  const reason = status < 500 ? error.message : (error.stack ?? error.message)
  refuse(office, { kind, method: request.method, path: request.url, reason })
  if (error instanceof UnreadableBody) return reply.code(status).send()
  return reply.code(status).send({ error: `refused by the simulated helpdesk: ${error.message}` })
}
