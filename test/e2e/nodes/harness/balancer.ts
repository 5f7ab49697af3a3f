// The balancer in front of the nodes of a stage: it takes any node, and the next one when a node does not answer or fails.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

export type Asked = { method: string; path: string; headers?: Record<string, string>; body?: Uint8Array | string }
export type BalancerAnswer = { status: number; type: string; text: string }

/** A node that stands still gets no more time than this. */
const nodeMs = 1500
/** The helpdesk gives up after 5 s. */
const wholeMs = 4500
/** A node that failed is asked last for this time. */
const avoidMs = 2000
const betweenMs = 100
/** These belong to one connection. */
const ownHeaders = new Set(['host', 'connection', 'content-length', 'transfer-encoding'])

export class Balancer {
  readonly #server: Server
  readonly #urls: () => readonly string[]
  readonly #failedAt = new Map<string, number>()
  #turn = 0

  private constructor(urls: () => readonly string[]) {
    this.#urls = urls
    this.#server = createServer((request, response) => {
      void this.#serve(request, response)
    })
  }

  /** `urls` names the nodes that run now. */
  static async start(urls: () => readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(urls)
    balancer.#server.listen(0, '127.0.0.1')
    await once(balancer.#server, 'listening')
    return balancer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The first answer that is no failure of a node, or the last failure. */
  async ask(asked: Asked, withinMs = wholeMs): Promise<BalancerAnswer> {
    const since = performance.now()
    let last: BalancerAnswer = { status: 503, type: 'text/plain', text: 'no node runs' }
    for (;;) {
      for (const url of this.#inOrder()) {
        const leftMs = withinMs - (performance.now() - since)
        if (leftMs <= 0) return last
        last = await askNode(url, asked, Math.min(nodeMs, leftMs))
        if (last.status < 500) return last
        this.#failedAt.set(url, performance.now())
      }
      if (performance.now() - since > withinMs) return last
      await pause(betweenMs)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  /** Every node has its turn; those that failed lately come last. */
  #inOrder(): string[] {
    const urls = this.#urls()
    const first = this.#turn++ % Math.max(urls.length, 1)
    const turned = [...urls.slice(first), ...urls.slice(0, first)]
    const isAvoided = (url: string) => performance.now() - (this.#failedAt.get(url) ?? -avoidMs) < avoidMs
    return turned.toSorted((one, other) => Number(isAvoided(one)) - Number(isAvoided(other)))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      ownHeaders.has(name) || value === undefined ? [] : [[name, String(value)] as const],
    )
    const body = await buffer(request)
    const asked = { method: request.method ?? 'GET', path: request.url ?? '/', headers: Object.fromEntries(headers) }
    const { status, type, text } = await this.ask(body.length > 0 ? { ...asked, body } : asked)
    response.writeHead(status, { 'content-type': type }).end(text)
  }
}

async function askNode(url: string, { path, body, ...rest }: Asked, timeoutMs: number): Promise<BalancerAnswer> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }
    const response = await fetch(`${url}${path}`, { ...rest, ...sent, signal })
    const type = response.headers.get('content-type') ?? 'text/plain'
    return { status: response.status, type, text: await response.text() }
  } catch (error) {
    return { status: 504, type: 'text/plain', text: String(error) }
  }
}
