// An HTTP listener that can close and open again on the same port.

import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export class Listener {
  readonly #answer: RequestListener
  #server: Server | undefined
  #port = 0
  #last: Promise<void> = Promise.resolve()

  constructor(answer: RequestListener) {
    this.#answer = answer
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  open(port = this.#port): Promise<void> {
    return this.#inTurn(() => this.#open(port))
  }

  /** Cuts every connection, as a dying process does. */
  close(): Promise<void> {
    return this.#inTurn(() => this.#close())
  }

  /** Runs one call after the other: several callers may open and close at the same time. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  async #open(port: number): Promise<void> {
    if (this.#server) return
    const server = createServer({ keepAliveTimeout: 20_000 }, this.#answer)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  async #close(): Promise<void> {
    const server = this.#server
    if (!server) return
    this.#server = undefined
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
}
