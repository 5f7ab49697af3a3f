// For routes whose path names no instance: they find the name in the body or in the database, and the owner does the work.

import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { InstanceName } from '../../core/ids.ts'
import { NotHeldError } from '../../core/nodes/hold.ts'
import { OwnerForwarder } from './owner-forwarder.ts'
import { passAnswer } from './pass-headers.ts'
import type { PassedAnswer } from './pass-headers.ts'
import { whenClosed } from './passage.ts'
import type { ForwardingDeps } from './passage.ts'

/** Asks the owner of an instance what the client has asked; `body` takes the place of the body of the client. */
export type AskOwner = (instance: InstanceName, body?: unknown) => Promise<PassedAnswer<Readable> | 'here'>

export class RouteForwarder {
  readonly #deps: ForwardingDeps
  readonly #owners: OwnerForwarder

  constructor(deps: ForwardingDeps) {
    this.#deps = deps
    this.#owners = new OwnerForwarder(deps)
  }

  askFor(request: FastifyRequest, reply: FastifyReply): AskOwner {
    const { forwarded, owners, clock } = this.#deps
    // Another node found that this one is the owner. The request goes no further.
    if (forwarded.find(request.raw)) return () => Promise.resolve('here')
    const since = clock.monotonic() - request.heldMs
    const hungUp = whenClosed(reply)
    return async (instance, body = request.body) => {
      const owner = await owners.ownerOf(instance)
      if (owner === 'here' || owner === 'unknown') return 'here'
      const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
      return this.#owners.ask({ instance, request, body: bytes, since, hungUp })
    }
  }
}

/**
 * Does the work here, or resolves to the answer of the owner. Another node may get the instance after the first look: it may
 * create an instance of the same name.
 */
export async function atOwner<Result>(
  work: () => Promise<Result>,
  askOwner: () => Promise<Result | 'here'>,
): Promise<Result> {
  const answer = await askOwner()
  if (answer !== 'here') return answer
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof NotHeldError)) throw error
    const second = await askOwner()
    if (second === 'here') throw error
    return second
  }
}

/** The whole request is for one instance: the client gets the answer of the owner. */
export function servedByOwner(
  forwarder: RouteForwarder | null,
  { request, reply, instance }: { request: FastifyRequest; reply: FastifyReply; instance: InstanceName },
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  if (!forwarder) return work()
  const ask = forwarder.askFor(request, reply)
  return atOwner(work, async () => {
    const answer = await ask(instance)
    if (answer === 'here') return answer
    passAnswer(reply, answer)
    return reply
  })
}
