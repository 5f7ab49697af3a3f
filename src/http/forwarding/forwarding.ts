// Hands a request to the node that holds its instance, and passes the answer on. It comes after the token was checked and before
// the body is read. A request that came from another node is never handed on.

import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import type { BodyMemory } from '../body-memory.ts'
import { CallbackForwarder } from './callback-forwarder.ts'
import type { ForwardedRequest } from './forwarded-requests.ts'
import { OwnerForwarder } from './owner-forwarder.ts'
import { instanceOf, isCallback, stopAdviceOf } from './owner-routes.ts'
import { passAnswer } from './pass-headers.ts'
import { whenClosed } from './passage.ts'
import type { ForwardingDeps, Passage, PassageEnd } from './passage.ts'
import { bodyOf, replay } from './request-body.ts'

/** How long a large callback waits until there is room for it, as at the route itself. */
const waitForRoomMs = 3000

export class Forwarding {
  readonly #deps: ForwardingDeps
  readonly #callbackBodies: BodyMemory
  readonly #otherBodies: BodyMemory
  readonly #callbacks: CallbackForwarder
  readonly #others: OwnerForwarder
  readonly #stopping = new AbortController()

  /** Callbacks need no token, so their bodies take no room from requests that have one. */
  constructor(deps: ForwardingDeps, newBodies: () => BodyMemory) {
    this.#deps = deps
    this.#callbackBodies = newBodies()
    this.#otherBodies = newBodies()
    this.#callbacks = new CallbackForwarder(deps)
    this.#others = new OwnerForwarder(deps)
  }

  /** Resolves to `answered`, or to the body that the route of this node is to read. */
  async pass(request: FastifyRequest, reply: FastifyReply, payload: Readable): Promise<Readable | 'answered'> {
    const { forwarded, owners, clock } = this.#deps
    const arrived = forwarded.find(request.raw)
    if (arrived) {
      this.#receive(request, arrived)
      return payload
    }
    const instance = instanceOf(request)
    if (instance === undefined) return payload
    const since = clock.monotonic() - request.heldMs
    const isForCallbacks = isCallback(request.routeOptions.url ?? '')
    const owner = await (isForCallbacks ? owners.callbackOwnerOf(instance) : owners.ownerOf(instance))
    if (owner === 'here' || owner === 'unknown') return payload
    if (isForCallbacks) await this.#callbackBodies.admitInTime(request, reply, waitForRoomMs - request.heldMs)
    else this.#otherBodies.admit(request, reply)
    const hungUp = this.#whenOver(request, reply)
    const passage = { instance, request, reply, body: await bodyOf(request, reply, payload), since, hungUp }
    const end = await (isForCallbacks ? this.#callbacks.pass(passage) : this.#passToOwner(passage))
    return end === 'answered' ? end : replay(passage.body)
  }

  /** This node stops. A client that waits for an instance or an import must not be cut off. */
  close(): void {
    this.#stopping.abort()
  }

  #whenOver({ routeOptions: { url = '' } }: FastifyRequest, reply: FastifyReply): AbortSignal {
    const isWait = stopAdviceOf(url) !== undefined
    return isWait ? AbortSignal.any([whenClosed(reply), this.#stopping.signal]) : whenClosed(reply)
  }

  async #passToOwner(passage: Passage): Promise<PassageEnd> {
    const answer = await this.#others.ask(passage).catch((error: unknown) => {
      const advice = stopAdviceOf(passage.request.routeOptions.url ?? '')
      if (advice === undefined || !passage.hungUp.aborted || !this.#stopping.signal.aborted) throw error
      throw new BridgeError('SERVICE_STOPPING', advice, { cause: error })
    })
    if (answer === 'here') return answer
    passAnswer(passage.reply, answer)
    return 'answered'
  }

  /** The other node has chosen the route by the same path, so a difference means that it runs another version. */
  #receive(request: FastifyRequest, { head }: ForwardedRequest): void {
    const isMeant = request.routeOptions.config.handsOver ?? instanceOf(request) === head.instance
    if (!isMeant) {
      throw new BridgeError('SERVICE_BAD_REQUEST', 'this is no request that one node hands to another')
    }
    request.heldMs += head.waitedMs
  }
}
