// Listens for other nodes, on an address of its own that no balancer leads to. Every request is signed; the signature is judged
// before anything else. A request for a cell goes to the cell, which judges it.

import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { NodeId } from '../../core/nodes/hold.ts'
import type { Log } from '../../lib/log.ts'
import { peerRoutes } from '../../nodes/peer-routes.ts'
import type { NodeSignature, Signed } from '../../nodes/signature.ts'
import type { CellRelay } from './cell-relay.ts'
import type { EventsEntry } from './events-entry.ts'
import type { ForwardedEntry } from './forwarded-entry.ts'
import type { PeerCalls } from './peer-calls.ts'
import { NotServedHere, refuse, refusalOf } from './refusals.ts'

type Deps = {
  /** Another one after this node joined again. */
  self: () => NodeId
  signature: Pick<NodeSignature, 'judge'>
  forwards: Pick<ForwardedEntry, 'admit'>
  calls: Pick<PeerCalls, 'answer'>
  events: Pick<EventsEntry, 'admit' | 'close'>
  cells: Pick<CellRelay, 'admit'>
  log: Log
}

type HostAndPort = { host: string; port: number }

/** A forwarded request carries the headers of the client in one of its own. */
const maxHeaderSize = 64 * 1024
/** Longer than the pauses between the beats of a peer, so that its next request needs no new connection. */
const keepAliveTimeout = 60_000
/** How long requests in progress may finish after the listener has closed. */
const closeDeadlineMs = 5000

export class InternalListener {
  readonly #deps: Deps
  readonly #server: Server

  constructor(deps: Deps) {
    this.#deps = deps
    const timeouts = {
      requestTimeout: 30_000,
      headersTimeout: 8000,
      keepAliveTimeout,
      connectionsCheckingInterval: 1000,
    }
    this.#server = createServer({ maxHeaderSize, ...timeouts }, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        refuse(response, error, deps.log)
      })
    })
  }

  /** Resolves to the URL of the listener. */
  async listen({ host, port }: HostAndPort): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, resolve)
    })
    const { address, family, port: bound } = this.#server.address() as AddressInfo
    const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
    this.#deps.log.info({ url }, 'listening for other nodes')
    return url
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return
    const cut = setTimeout(() => {
      this.#server.closeAllConnections()
    }, closeDeadlineMs)
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeIdleConnections()
    this.#deps.events.close()
    await closed
    clearTimeout(cut)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { forwards, events, calls, cells } = this.#deps
    if (await cells.admit(request, response)) return
    const signed = this.#judge(request)
    if (signed.path === peerRoutes.forward) await forwards.admit(request, response, signed)
    else if (signed.path === peerRoutes.events) await events.admit(request, response, signed)
    else await calls.answer(request, response, signed)
  }

  #judge({ method = '', url = '', headers }: IncomingMessage): Signed {
    const verdict = this.#deps.signature.judge(this.#deps.self(), method, url, headers)
    if (verdict.is !== 'genuine') throw refusalOf(verdict.is)
    if (method !== 'POST' || !Object.values<string>(peerRoutes).includes(url)) {
      throw new NotServedHere('distrusted', 'nodes have no such route: do they run the same version?')
    }
    return verdict.signed
  }
}
