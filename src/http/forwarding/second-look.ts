// An instance may leave this node while a request about it is worked on. Its route then finds no such instance, or may not write
// for it. The client must not hear that the instance does not exist, and a callback must not be lost.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import { NotHeldError } from '../../core/nodes/hold.ts'
import { CallbackForwarder } from './callback-forwarder.ts'
import { instanceOf, isCallback } from './owner-routes.ts'
import { whenClosed } from './passage.ts'
import type { ForwardingDeps } from './passage.ts'
import { bodyOf } from './request-body.ts'

type Answer = (error: Error, request: FastifyRequest, reply: FastifyReply) => void

export class SecondLook {
  readonly #deps: ForwardingDeps
  readonly #callbacks: CallbackForwarder

  constructor(deps: ForwardingDeps) {
    this.#deps = deps
    this.#callbacks = new CallbackForwarder(deps)
  }

  /** Answers a request that has failed. */
  answer(error: Error, request: FastifyRequest, reply: FastifyReply, refuse: Answer): void {
    if (!mayHaveLeft(error)) {
      refuse(error, request, reply)
      return
    }
    this.#follow(error, request, reply).then(
      (end) => {
        if (end !== 'answered') refuse(end, request, reply)
      },
      (failure: unknown) => {
        request.log.warn({ err: failure }, 'a request whose instance has left could not be handed on')
        refuse(error, request, reply)
      },
    )
  }

  /** Resolves to the error that the client is told, unless the request is answered. */
  async #follow(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<Error | 'answered'> {
    const { owners, forwarded, clock } = this.#deps
    // That time contains `heldMs`, in which the service started.
    const since = clock.monotonic() - reply.elapsedTime
    const instance = instanceOf(request)
    if (instance === undefined) return error
    const isForCallbacks = isCallback(request.routeOptions.url ?? '')
    owners.forget(instance)
    const owner = await (isForCallbacks ? owners.callbackOwnerOf(instance) : owners.ownerOf(instance))
    // `here`: it was deleted a moment ago, or this node does not know yet that it has left.
    if (owner === 'unknown' || owner === 'here') return error
    const left = new NotHeldError(instance)
    // The node that received the request stores the callback.
    if (forwarded.find(request.raw) || !isForCallbacks) return left
    const body = Buffer.isBuffer(request.body) ? request.body : await bodyOf(request, reply, request.raw)
    const passage = { instance, request, reply, body, since, hungUp: whenClosed(reply) }
    return (await this.#callbacks.pass(passage)) === 'answered' ? 'answered' : left
  }
}

function mayHaveLeft(error: Error): boolean {
  const isMissing = error instanceof BridgeError && error.code === 'SERVICE_INSTANCE_NOT_FOUND'
  return isMissing || error instanceof NotHeldError
}
