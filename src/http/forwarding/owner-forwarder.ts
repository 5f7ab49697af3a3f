// Requests that only the owner can answer, other than callbacks. Without an owner they wait for one for a while: an instance is
// without one for some seconds when its node died, and for less when it moves.

import type { Readable } from 'node:stream'
import { BridgeError } from '../../core/errors.ts'
import type { Owner, OwnerAnswer } from '../../core/nodes/owners.ts'
import { sleep } from '../../lib/clock.ts'
import { EgressError } from '../../lib/egress/errors.ts'
import { deadlineOf, endsQuarantine } from './owner-routes.ts'
import type { PassedAnswer } from './pass-headers.ts'
import { distrusted, headFor } from './passage.ts'
import type { ForwardingDeps, OwnerRequest } from './passage.ts'

type Deps = Pick<ForwardingDeps, 'owners' | 'peers' | 'clock'>

/** How long a request waits for an owner. */
const waitMs = 3000
const pauseMs = 100

const reading = ['GET', 'HEAD']

export class OwnerForwarder {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves to the answer of the owner, or to `here` when this node serves the request after all. */
  async ask(asked: OwnerRequest): Promise<PassedAnswer<Readable> | 'here'> {
    const { owners, clock } = this.#deps
    const { instance } = asked
    const until = clock.monotonic() + waitMs
    let refused: Owner | undefined
    for (;;) {
      const owner = await this.#find(asked)
      if (owner === 'here' || owner === 'unknown') return 'here'
      const isNew = typeof owner === 'object' && (owner.id !== refused?.id || owner.epoch !== refused.epoch)
      if (isNew) {
        const answer = await this.#ask(owner, asked)
        if (answer) return answer
        refused = owner
        owners.forget(instance)
        continue
      }
      if (asked.hungUp.aborted || clock.monotonic() >= until) throw noOwner()
      await sleep(clock, pauseMs, asked.hungUp)
      owners.forget(instance)
      // It may serve the instance by now.
      refused = undefined
    }
  }

  async #find({ instance, request }: OwnerRequest): Promise<OwnerAnswer> {
    const { owners } = this.#deps
    const owner = await owners.ownerOf(instance)
    if (owner !== 'quarantined') return owner
    if (!endsQuarantine(request.routeOptions.url ?? '')) throw inQuarantine()
    await owners.takeQuarantined(instance)
    owners.forget(instance)
    return owners.ownerOf(instance)
  }

  /** Undefined when the node certainly did nothing. */
  async #ask(owner: Owner, asked: OwnerRequest): Promise<PassedAnswer<Readable> | undefined> {
    const { peers, clock } = this.#deps
    const { instance, request, body, hungUp: signal } = asked
    const head = headFor(asked, owner, clock.monotonic())
    const timeoutMs = deadlineOf(request.routeOptions.url ?? '')
    try {
      const answer = await peers.forward(owner, head, body, { timeoutMs, signal })
      if (!('refusal' in answer)) return answer
      if (answer.refusal === 'distrusted') throw new BridgeError('SERVICE_NO_OWNER', distrusted)
      return undefined
    } catch (error) {
      if (!(error instanceof EgressError)) throw error
      request.log.warn({ node: owner.id, reason: error.reason, instance }, 'the owner did not answer a request')
      const didNothing = error.outcome === 'not_sent' || (error.reason === 'lost' && reading.includes(request.method))
      if (didNothing) return undefined
      throw noAnswer(error)
    }
  }
}

function noOwner(): BridgeError {
  return new BridgeError('SERVICE_NO_OWNER', 'no node serves this instance at the moment; try again')
}

function inQuarantine(): BridgeError {
  const sentence =
    'this instance is in quarantine, because it ended the nodes that opened it; ' +
    'POST /api/instances/:name/restart opens it again'
  return new BridgeError('SERVICE_NO_OWNER', sentence, { retryAfterSeconds: 60 })
}

function noAnswer(cause: Error): BridgeError {
  const sentence =
    'the node that serves this instance did not answer; look whether a change was made before you repeat it'
  return new BridgeError('SERVICE_NODE_SILENT', sentence, { cause })
}
