// Holds requests while the service starts. Chatwoot sends a callback once and marks the message as failed if it is refused.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'

/** standby: another process owns the accounts. */
export type Phase = 'starting' | 'serving' | 'standby'

type Deps = {
  phase: () => Phase
  /** Aborts when the service begins to serve. */
  begun: AbortSignal
  clock: Clock
}

declare module 'fastify' {
  interface FastifyRequest {
    /** How long the request was held while the service started. */
    heldMs: number
  }
}

// Chatwoot hangs up after 5 s. What is left is for the decision and the way of the answer.
const holdMs = 3500

export class StartGate {
  readonly #deps: Deps
  readonly #closing = new AbortController()
  readonly #over: AbortSignal

  constructor(deps: Deps) {
    this.#deps = deps
    this.#over = AbortSignal.any([deps.begun, this.#closing.signal])
  }

  /** Whether no request has to wait or is refused. */
  get isOpen(): boolean {
    return this.#deps.phase() === 'serving'
  }

  /** Resolves when the service serves. Rejects when another process does, or when the request was held for too long. */
  async pass(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { phase, clock } = this.#deps
    if (phase() === 'starting') {
      const from = clock.monotonic()
      const hungUp = new AbortController()
      reply.raw.once('close', () => {
        hungUp.abort()
      })
      // A request that outlived its connection would not count against the limit of connections.
      await sleep(clock, holdMs, AbortSignal.any([this.#over, hungUp.signal]))
      request.heldMs = clock.monotonic() - from
      // Otherwise the end of the process waits for the client to hang up.
      if (this.#closing.signal.aborted) void reply.header('connection', 'close')
    }
    switch (phase()) {
      case 'serving':
        return
      case 'starting':
        throw new BridgeError('SERVICE_STARTING', 'the service is starting; try again in some seconds')
      case 'standby':
        throw new BridgeError('SERVICE_STANDBY', 'another process owns the accounts; this one stands by')
    }
  }

  /** The service stops: requests that are held are refused. */
  close(): void {
    this.#closing.abort()
  }
}
