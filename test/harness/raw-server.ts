// A TCP server that does to each connection what a test says.

import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

export class RawServer {
  readonly sockets = new Set<Socket>()
  connections = 0
  /** Everything that came in, of all connections. */
  received = ''
  readonly #server: Server

  private constructor(onSocket: (socket: Socket) => void) {
    this.#server = createServer((socket) => {
      this.connections += 1
      this.sockets.add(socket)
      socket.once('close', () => this.sockets.delete(socket))
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => (this.received += chunk.toString('latin1')))
      onSocket(socket)
    })
  }

  static async start(onSocket: (socket: Socket) => void = () => undefined): Promise<RawServer> {
    const server = new RawServer(onSocket)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  /** How often a request with this method has come. */
  requests(method: string): number {
    return this.received.split(`${method} / HTTP/1.1\r\n`).length - 1
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.sockets) socket.destroy()
    await closed
  }
}
