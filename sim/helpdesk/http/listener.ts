// An HTTP listener that can go away and come back on the same port.

import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export class Listener {
  readonly #answer: RequestListener
  #server: Server | undefined
  #port = 0

  constructor(answer: RequestListener) {
    this.#answer = answer
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async open(port = this.#port): Promise<void> {
    if (this.#server) return
    const server = createServer({ keepAliveTimeout: 20_000 }, this.#answer)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** Every connection is cut, as by a process that ends. */
  async close(): Promise<void> {
    const server = this.#server
    if (!server) return
    this.#server = undefined
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
}
