// The requests that came from another node. The listener for nodes notes them, so no header of a client can look like one.

import type { IncomingMessage } from 'node:http'
import { BridgeError } from '../../core/errors.ts'
import type { ForwardHead } from '../../core/nodes/owners.ts'
import { hashOf } from '../../nodes/signature.ts'

export type ForwardedRequest = { head: ForwardHead; bodyHash: string }

export class ForwardedRequests {
  readonly #requests = new WeakMap<IncomingMessage, ForwardedRequest>()

  note(request: IncomingMessage, forwarded: ForwardedRequest): void {
    this.#requests.set(request, forwarded)
  }

  find(request: IncomingMessage): ForwardedRequest | undefined {
    return this.#requests.get(request)
  }

  /** Throws when the body is not the one that the other node signed. A route without a body does not read what comes. */
  checkBody(request: IncomingMessage, body: Buffer): void {
    const forwarded = this.find(request)
    if (!forwarded || hashOf(body) === forwarded.bodyHash) return
    throw new BridgeError('SERVICE_BAD_REQUEST', 'the body is not the one that the node signed')
  }
}
