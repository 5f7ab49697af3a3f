// A TCP relay in front of one server, for one client. It can be cut, held and closed, and it can hold back the rest of a
// transaction with PostgreSQL.
//
// passing → cut     nothing passes in either direction, and neither side is told; as when a cable is pulled
// passing → closed  all connections end, and new ones end at once; as when the server is down
// any     → passing by heal(): connections that were cut end, so that both sides hear of it, and new ones pass

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { waitUntil } from '../../../harness/wait-until.ts'
import { ClientMessages } from './client-messages.ts'

type Target = { host: string; port: number }
type Mode = 'passing' | 'cut' | 'closed'
type Link = { client: Socket; server: Socket | undefined; held: Buffer[] | undefined }

export class Relay {
  readonly #server: Server
  #target: Target
  readonly #links = new Set<Link>()
  #mode: Mode = 'passing'
  #holdsAt: string | undefined

  private constructor(target: Target) {
    this.#target = target
    this.#server = createServer((client) => {
      this.#accept(client)
    })
  }

  static async to(target: Target): Promise<Relay> {
    const relay = new Relay(target)
    relay.#server.listen(0, '127.0.0.1')
    await once(relay.#server, 'listening')
    return relay
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The same address, through this relay. */
  urlOf(url: string): string {
    const own = new URL(url)
    own.hostname = '127.0.0.1'
    own.port = String(this.port)
    return own.href
  }

  get isPassing(): boolean {
    return this.#mode === 'passing'
  }

  cut(): void {
    this.#mode = 'cut'
    for (const { client, server } of this.#links) {
      client.pause()
      server?.pause()
    }
  }

  close(): void {
    this.#mode = 'closed'
    this.#endAll()
  }

  heal(): void {
    if (this.#mode === 'cut') this.#endAll()
    this.#mode = 'passing'
    this.release()
  }

  /** All connections end, and new ones lead to another server. */
  leadTo(target: Target): void {
    this.#target = target
    this.#endAll()
  }

  /**
   * The next message to PostgreSQL that says this does not reach it, nor does anything after it on its connection, until
   * release(). Resolves when one is held back.
   */
  async holdAt(statement: string): Promise<void> {
    this.#holdsAt = statement
    await waitUntil(`a client says ${statement}`, () => this.#holdsAt === undefined)
  }

  /** What was held back goes on. */
  release(): void {
    this.#holdsAt = undefined
    for (const link of this.#links) {
      for (const bytes of link.held ?? []) link.server?.write(bytes)
      link.held = undefined
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#endAll()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(client: Socket): void {
    if (this.#mode === 'closed') {
      client.destroy()
      return
    }
    const isCut = this.#mode === 'cut'
    const server = isCut ? undefined : connect(this.#target.port, this.#target.host)
    const link: Link = { client, server, held: undefined }
    this.#links.add(link)
    for (const socket of [client, server]) {
      const over = () => {
        this.#over(link)
      }
      socket?.setNoDelay(true).on('close', over).on('error', over)
    }
    if (!server) {
      client.pause()
      return
    }
    const messages = new ClientMessages()
    client.on('data', (bytes) => {
      this.#pass(link, bytes, messages)
    })
    server.on('data', (bytes) => client.write(bytes))
  }

  #pass(link: Link, bytes: Buffer, messages: ClientMessages): void {
    if (link.held) {
      link.held.push(bytes)
      return
    }
    const at = messages.indexOf(bytes, this.#holdsAt)
    if (at !== undefined) {
      this.#holdsAt = undefined
      link.held = [bytes.subarray(at)]
    }
    link.server?.write(bytes.subarray(0, at))
  }

  /** While the relay is cut, the end of one side stays unknown to the other. */
  #over(link: Link): void {
    if (this.#mode !== 'cut') this.#end(link)
  }

  #endAll(): void {
    for (const link of this.#links) this.#end(link)
  }

  #end(link: Link): void {
    this.#links.delete(link)
    link.client.destroy()
    link.server?.destroy()
  }
}
