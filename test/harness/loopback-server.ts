// An HTTP or HTTPS server on every loopback address that counts who reaches it.

import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { CertificateAuthority } from '../../sim/network/media/certificate-authority.ts'
import { SeededRandom } from '../../sim/network/seeded-random.ts'

const authority = new CertificateAuthority(new SeededRandom('loopback server'))

/** What a client must trust to talk to a LoopbackServer over https. */
export const loopbackCa = authority.pem

const answerOk: RequestListener = (request, response) => {
  request.resume().on('end', () => response.end('ok'))
}

export class LoopbackServer {
  connections = 0
  requests = 0
  readonly protocol: 'http:' | 'https:'
  readonly sockets = new Set<Socket>()
  readonly #server: ReturnType<typeof createServer> | ReturnType<typeof createTlsServer>

  private constructor(protocol: 'http:' | 'https:', listener: RequestListener) {
    this.protocol = protocol
    const counted: RequestListener = (...exchange) => {
      this.requests += 1
      listener(...exchange)
    }
    this.#server = protocol === 'http:' ? createServer(counted) : createTlsServer(authority.loopbackServer(), counted)
    this.#server.on('connection', (socket: Socket) => {
      this.connections += 1
      this.sockets.add(socket)
      socket.once('close', () => this.sockets.delete(socket))
    })
  }

  static async start(
    listener: RequestListener = answerOk,
    { protocol = 'http:', host = '::' }: { protocol?: 'http:' | 'https:'; host?: string } = {},
  ): Promise<LoopbackServer> {
    const server = new LoopbackServer(protocol, listener)
    await new Promise<void>((resolve) => server.#server.listen(0, host, resolve))
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Of any host name that leads here. */
  url(host = '127.0.0.1', path = '/'): string {
    return `${this.protocol}//${host}:${this.port}${path}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }
}
