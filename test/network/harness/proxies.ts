// Two proxies: one that takes CONNECT over http, one that speaks SOCKS5.

import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

export class Proxy {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  readonly #scheme: string
  /** Where the connections went, each as host and port. */
  readonly targets: string[] = []

  private constructor(scheme: string, server: Server) {
    this.#scheme = scheme
    this.#server = server
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      socket.on('error', () => socket.destroy())
    })
  }

  static async http(): Promise<Proxy> {
    const server = createHttpServer()
    const proxy = new Proxy('http', server)
    server.on('connect', ({ url = '' }, client: Socket) => {
      const { hostname, port } = new URL(`http://${url}`)
      proxy.#forward(client, hostname, Number(port), 'HTTP/1.1 200 Connection established\r\n\r\n')
    })
    return proxy.#listen()
  }

  /** As much of it as one CONNECT without a password needs. */
  static async socks(): Promise<Proxy> {
    const server = createServer((client) => {
      client.once('data', () => {
        client.write(Buffer.from([5, 0]))
        client.once('data', (request) => {
          const isName = request[3] === 3
          const end = isName ? 5 + (request[4] ?? 0) : 8
          const host = isName ? request.subarray(5, end).toString() : request.subarray(4, 8).join('.')
          proxy.#forward(client, host, request.readUInt16BE(end), Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
        })
      })
    })
    const proxy = new Proxy('socks5', server)
    return proxy.#listen()
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  #forward(client: Socket, host: string, port: number, greeting: string | Buffer): void {
    this.targets.push(`${host}:${port}`)
    const upstream = connect(port, host, () => {
      client.write(greeting)
      client.pipe(upstream).pipe(client)
    })
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  }
}
