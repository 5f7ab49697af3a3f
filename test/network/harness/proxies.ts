// Two proxies: one that takes CONNECT over http, one that speaks SOCKS5. Either may ask for a user and a password.

import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

type Credentials = { user: string; password: string }

const socksAnswers = { plain: [5, 0], withPassword: [5, 2], nothing: [5, 255], welcome: [1, 0], wrong: [1, 1] }
const socksConnected = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])

export class Proxy {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  readonly #scheme: string
  readonly #credentials: Credentials | undefined
  /** Where the connections went, each as host and port. */
  readonly targets: string[] = []
  /** How many connections were turned away, because they named another user or password, or none. */
  refused = 0

  private constructor(scheme: string, server: Server, credentials: Credentials | undefined) {
    this.#scheme = scheme
    this.#server = server
    this.#credentials = credentials
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      socket.on('error', () => socket.destroy())
    })
  }

  static async http(credentials?: Credentials): Promise<Proxy> {
    const server = createHttpServer()
    const proxy = new Proxy('http', server, credentials)
    server.on('connect', (request: IncomingMessage, client: Socket) => {
      proxy.#connectHttp(request, client)
    })
    return proxy.#listen()
  }

  /** As much of it as one CONNECT needs. */
  static async socks(credentials?: Credentials): Promise<Proxy> {
    const server = createServer((client) => {
      void proxy.#connectSocks(client).catch(() => client.destroy())
    })
    const proxy = new Proxy('socks5', server, credentials)
    return proxy.#listen()
  }

  /** Host and port. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** With user and password, where there are some. */
  get url(): string {
    const { user, password } = this.#credentials ?? {}
    const who = user === undefined ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password ?? '')}@`
    return `${this.#scheme}://${who}${this.host}`
  }

  /** As the service shows it. */
  get shown(): string {
    return `${this.#scheme}://${this.host}`
  }

  /** How many tunnels are open now. */
  get open(): number {
    return [...this.#open].filter((socket) => !socket.destroyed).length
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

  #connectHttp({ url = '', headers }: IncomingMessage, client: Socket): void {
    const { hostname, port } = new URL(`http://${url}`)
    const [, given = ''] = (headers['proxy-authorization'] ?? '').split(' ')
    if (!this.#accepts(...splitAt(Buffer.from(given, 'base64').toString()))) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
      return
    }
    this.#forward(client, hostname, Number(port), 'HTTP/1.1 200 Connection established\r\n\r\n')
  }

  async #connectSocks(client: Socket): Promise<void> {
    const methods = (await received(client)).subarray(2)
    if (this.#credentials && !methods.includes(2)) {
      this.refused += 1
      client.end(Buffer.from(socksAnswers.nothing))
      return
    }
    client.write(Buffer.from(this.#credentials ? socksAnswers.withPassword : socksAnswers.plain))
    if (this.#credentials && !(await this.#greets(client))) return
    const request = await received(client)
    const isName = request[3] === 3
    const end = isName ? 5 + (request[4] ?? 0) : 8
    const host = isName ? request.subarray(5, end).toString() : request.subarray(4, 8).join('.')
    this.#forward(client, host, request.readUInt16BE(end), socksConnected)
  }

  async #greets(client: Socket): Promise<boolean> {
    const login = await received(client)
    const userEnd = 2 + (login[1] ?? 0)
    const password = login.subarray(userEnd + 1, userEnd + 1 + (login[userEnd] ?? 0))
    const isWelcome = this.#accepts(login.subarray(2, userEnd).toString(), password.toString())
    client.write(Buffer.from(isWelcome ? socksAnswers.welcome : socksAnswers.wrong))
    if (!isWelcome) client.end()
    return isWelcome
  }

  #accepts(user: string, password: string): boolean {
    const { user: wanted, password: secret } = this.#credentials ?? { user, password }
    const isRight = user === wanted && password === secret
    if (!isRight) this.refused += 1
    return isRight
  }

  #forward(client: Socket, host: string, port: number, greeting: string | Buffer): void {
    this.targets.push(`${host}:${port}`)
    // Only the proxy knows where hosts under `invalid` are: a client that goes around it finds nothing.
    const upstream = connect(port, host.endsWith('.invalid') ? '127.0.0.1' : host, () => {
      client.write(greeting)
      client.pipe(upstream).pipe(client)
    })
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  }
}

async function received(client: Socket): Promise<Buffer> {
  const [bytes] = (await once(client, 'data')) as [Buffer]
  return bytes
}

function splitAt(text: string): [string, string] {
  const at = text.indexOf(':')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
