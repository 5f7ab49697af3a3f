// Reads the whole body of a request, before it is known which node will read it.

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import { isTooLarge } from '../body-memory.ts'

const bodyless = ['GET', 'HEAD']

const kept = new WeakMap<FastifyRequest, Buffer>()

/** A body comes once, and a request whose instance leaves is looked at twice. Throws when it is larger than the route takes. */
export async function bodyOf(request: FastifyRequest, reply: FastifyReply, payload: Readable): Promise<Buffer> {
  const body = kept.get(request) ?? (await readBody(request, reply, payload))
  kept.set(request, body)
  return body
}

async function readBody(request: FastifyRequest, reply: FastifyReply, payload: Readable): Promise<Buffer> {
  if (bodyless.includes(request.method)) return Buffer.alloc(0)
  if (isTooLarge(request)) throw tooLarge(reply)
  return (await collect(payload, request.routeOptions.bodyLimit)) ?? Promise.reject(tooLarge(reply))
}

/** Undefined when there are more bytes; the rest is not kept. By events: an iterator costs more than all else here. */
function collect(payload: Readable, mostBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const onEarly = () => {
      reject(new Error('the client hung up before the end of its body'))
    }
    payload.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= mostBytes) chunks.push(chunk)
      else resolve(undefined)
    })
    payload.once('end', () => {
      payload.off('close', onEarly)
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes))
    })
    payload.once('error', reject)
    payload.once('close', onEarly)
    // It has no more events.
    if (payload.destroyed) onEarly()
  })
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
