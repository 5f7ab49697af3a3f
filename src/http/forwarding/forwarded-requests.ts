// The requests that came from another node. The listener for nodes notes them, so no header of a client can look like one.

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import type { Readable } from 'node:stream'
import type { ForwardHead } from '../../core/nodes/owners.ts'
import { BridgeError } from '../../core/errors.ts'

export type ForwardedRequest = { head: ForwardHead; bodyHash: string }

export class ForwardedRequests {
  readonly #requests = new WeakMap<IncomingMessage, ForwardedRequest>()

  note(request: IncomingMessage, forwarded: ForwardedRequest): void {
    this.#requests.set(request, forwarded)
  }

  find(request: IncomingMessage): ForwardedRequest | undefined {
    return this.#requests.get(request)
  }
}

/** Fails at its end when the body is not the one that the other node signed. No route acts before that end. */
export function signedBody(payload: Readable, bodyHash: string): Readable {
  const hash = createHash('sha256')
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
    flush(done) {
      const isSame = hash.digest('hex') === bodyHash
      done(isSame ? null : new BridgeError('SERVICE_BAD_REQUEST', 'the body is not the one that the node signed'))
    },
  })
  payload.once('error', (error) => checked.destroy(error))
  // The event of a client that hangs up in the middle of its body.
  payload.once('close', () => {
    if (!payload.readableEnded) checked.destroy(new Error('the body ended early'))
  })
  return payload.pipe(checked)
}
