// A request on its way to the node that holds its instance.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { InstanceName } from '../../core/ids.ts'
import type { ForwardHead, Owner, Owners } from '../../core/nodes/owners.ts'
import type { StandIn } from '../../core/nodes/stand-in.ts'
import type { Clock } from '../../lib/clock.ts'
import type { PeerClient } from '../../nodes/peer-client.ts'
import type { ForwardedRequests } from './forwarded-requests.ts'
import { headersToOwner } from './pass-headers.ts'

export type ForwardingDeps = {
  owners: Owners
  peers: Pick<PeerClient, 'forward' | 'forwardCallback'>
  standIn: StandIn
  forwarded: ForwardedRequests
  clock: Clock
}

/** A request for the owner of an instance. */
export type OwnerRequest = {
  instance: InstanceName
  request: FastifyRequest
  body: Buffer
  /** On the monotonic scale, when the request came. */
  since: number
  /** Aborts when the client hangs up: then the owner need not go on either. */
  hungUp: AbortSignal
}

export type Passage = OwnerRequest & { reply: FastifyReply }

/** What is said of an owner that does not trust this node. */
export const distrusted =
  'the node that serves this instance does not trust this one: compare their SERVICE_NODE_SECRET, clocks and versions'

/** `here`: this node serves the request after all. */
export type PassageEnd = 'here' | 'answered'

/** Aborts when the connection closes before the whole answer has left. */
export function whenClosed({ raw }: FastifyReply): AbortSignal {
  const closed = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) closed.abort()
  })
  return closed.signal
}

/** What the owner is told beside the body. */
export function headFor({ instance, request, body, since }: OwnerRequest, owner: Owner, now: number): ForwardHead {
  const { url: path, ip: client } = request
  // The connection between the nodes carries another method, so an answer without its body could not be told from a cut one.
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const headers = headersToOwner(request, body)
  return { instance, epoch: owner.epoch, method, path, headers, client, waitedMs: now - since }
}
