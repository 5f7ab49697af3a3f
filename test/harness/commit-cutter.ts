// A relay in front of PostgreSQL. It cuts a connection after a commit was made and before the client hears of it, or holds back
// the rest of a transaction as if the client stood still.

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

// The message that carries a statement: its kind and its length, and the empty name of a statement with parameters.
const [beforeSimple, beforeSql] = [5, 6]
const simpleQuery = 'Q'.charCodeAt(0)

export class CommitCutter {
  readonly #server: Server
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  /** The next transaction that says this is committed and never answered. */
  cutAfter: string | undefined
  cuts = 0
  /** The next statement that begins with this does not reach the server, nor does anything after it on its connection. */
  holdAt: string | undefined

  private constructor(target: URL) {
    this.#target = target
    this.#server = createServer((client) => {
      this.#relay(client)
    })
  }

  static async to(url: string): Promise<CommitCutter> {
    const cutter = new CommitCutter(new URL(url))
    cutter.#server.listen(0, '127.0.0.1')
    await once(cutter.#server, 'listening')
    return cutter
  }

  get url(): string {
    const url = new URL(this.#target)
    url.hostname = '127.0.0.1'
    url.port = String((this.#server.address() as AddressInfo).port)
    return url.href
  }

  #relay(client: Socket): void {
    const server = connect(Number(this.#target.port || 5432), this.#target.hostname)
    let isMeant = false
    let isCut = false
    let isOpen = false
    let isCommitted: (answer: string) => boolean = () => true
    let isHeld = false
    client.on('data', (all) => {
      if (isHeld) return
      const bytes = this.#beforeHold(all)
      isHeld = bytes.length < all.length
      const text = bytes.toString('latin1')
      if (text.includes('BEGIN')) isOpen = true
      if (this.cutAfter !== undefined && text.includes(this.cutAfter)) isMeant = true
      // A statement outside of a transaction is a commit by itself. The answers of a transaction come one by one.
      if (isMeant && (text.includes('COMMIT') || !isOpen)) {
        isCut = true
        isCommitted = isOpen ? (answer) => answer.includes('COMMIT') : () => true
        this.cutAfter = undefined
      }
      if (text.includes('COMMIT') || text.includes('ROLLBACK')) isOpen = false
      server.write(bytes)
    })
    server.on('data', (bytes) => {
      if (!isCut) {
        client.write(bytes)
        return
      }
      if (!isCommitted(bytes.toString('latin1'))) return
      this.cuts += 1
      client.destroy()
    })
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      const end = () => {
        for (const each of [client, server]) each.destroy()
        this.#sockets.delete(socket)
      }
      socket.on('close', end).on('error', end)
    }
  }

  #beforeHold(bytes: Buffer): Buffer {
    const at = this.holdAt === undefined ? -1 : bytes.indexOf(this.holdAt)
    if (at === -1) return bytes
    this.holdAt = undefined
    return bytes.subarray(0, at - (bytes[at - beforeSimple] === simpleQuery ? beforeSimple : beforeSql))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
