// Reads the whole body of a request, before it is known which node will read it.

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import { isTooLarge } from '../body-memory.ts'

const bodyless = ['GET', 'HEAD']

/** Throws when the body is larger than the route takes. */
export async function readBody(request: FastifyRequest, reply: FastifyReply, payload: Readable): Promise<Buffer> {
  if (bodyless.includes(request.method)) return Buffer.alloc(0)
  if (isTooLarge(request)) throw tooLarge(reply)
  const { bodyLimit } = request.routeOptions
  const chunks: Buffer[] = []
  let bytes = 0
  // Destroying the stream would close the connection before the refusal has left.
  for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyLimit) throw tooLarge(reply)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}

/** For the route of this node, after the body was read. */
export function replay(body: Buffer): Readable {
  return Readable.from(body.length === 0 ? [] : [body], { objectMode: false })
}

function tooLarge(reply: FastifyReply): BridgeError {
  // The rest of the body is not read.
  void reply.header('connection', 'close')
  return new BridgeError('SERVICE_BODY_TOO_LARGE', 'Request body is too large')
}
