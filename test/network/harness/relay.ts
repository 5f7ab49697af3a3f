// A plain TCP relay in front of a server: counts who comes, and can put bytes of its own into the stream.

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

export class Relay {
  readonly #server: Server
  readonly #clients = new Set<Socket>()
  /** How many connections were ever made through it. */
  count = 0

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      this.count += 1
      this.#clients.add(client)
      const upstream = connect(Number(target.port), target.hostname)
      client.pipe(upstream).pipe(client)
      const hangUp = () => {
        this.#clients.delete(client)
        client.destroy()
        upstream.destroy()
      }
      for (const socket of [client, upstream]) socket.on('close', hangUp).on('error', hangUp)
    })
  }

  static async to(url: string): Promise<Relay> {
    const relay = new Relay(new URL(url))
    relay.#server.listen(0, '127.0.0.1')
    await once(relay.#server, 'listening')
    return relay
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/ws/chat`
  }

  /** A WebSocket message that is a frame by its length and nothing by its content, to the client that came last. */
  sendGarbage(): void {
    const garbage = Buffer.from([0, 0, 32, ...Array<number>(32).fill(7)])
    const [client] = [...this.#clients].slice(-1)
    client?.write(Buffer.concat([Buffer.from([0x82, garbage.length]), garbage]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
