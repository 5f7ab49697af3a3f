// The body of a small request between nodes, as it was signed.

import type { IncomingMessage } from 'node:http'
import { BridgeError } from '../../core/errors.ts'
import { hashOf } from '../../nodes/signature.ts'

const mostBytes = 4096

export async function readSmallBody(request: IncomingMessage, bodyHash: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new BridgeError('SERVICE_BODY_TOO_LARGE', `the body has more than ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks, bytes)
  if (hashOf(body) === bodyHash) return body
  throw new BridgeError('SERVICE_BAD_REQUEST', 'the body is not the one that the node signed')
}
