// The public address of a service: a proxy whose address is known before the service has a port.

import { request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LoopbackServer } from './loopback-server.ts'

export class PublicAddress {
  /** Where the service listens now. */
  target = ''
  readonly #server: LoopbackServer

  private constructor(server: LoopbackServer) {
    this.#server = server
  }

  static async start(): Promise<PublicAddress> {
    let forward: (incoming: IncomingMessage, outgoing: ServerResponse) => void = () => undefined
    const server = await LoopbackServer.start((incoming, outgoing) => {
      forward(incoming, outgoing)
    })
    const address = new PublicAddress(server)
    forward = (incoming, outgoing) => {
      address.#forward(incoming, outgoing)
    }
    return address
  }

  get url(): string {
    return this.#server.url('127.0.0.1', '')
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, headers, url } = incoming
    const passed = request(`${this.target}${url ?? '/'}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.writeHead(502).end())
    incoming.pipe(passed)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]()
  }
}
