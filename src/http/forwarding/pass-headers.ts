// Which headers travel with a request to another node, and back with its answer.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'

type Headers = Record<string, string | string[] | undefined>

/** They describe one connection, not the request. */
const ofConnection = [
  ...['connection', 'expect', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]
const notPassed = new Set(ofConnection)
const notPassedBack = new Set([...ofConnection, 'date'])

export function headersToOwner({ headers, id }: FastifyRequest, body: Buffer): Record<string, string | string[]> {
  const passed = Object.entries(headers).filter(([name]) => !notPassed.has(name))
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  return {
    ...(Object.fromEntries(passed) as Record<string, string | string[]>),
    // Both nodes write the same id into their logs.
    'x-request-id': id,
    ...(hasBody && { 'content-length': String(body.length) }),
  }
}

/** What another node has answered. */
export type PassedAnswer<Body = Buffer | Readable> = { status: number; headers: Headers; body: Body }

export function passAnswer(reply: FastifyReply, { status, headers, body }: PassedAnswer): void {
  // The owner renews the session of the dashboard too.
  reply.removeHeader('set-cookie')
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !notPassedBack.has(name)) void reply.header(name, value)
  }
  // Fastify itself leaves the body out where there must be none.
  void reply.code(status).send(body)
}
