// Connections that send a request slowly and never close, as an attacker without a token opens them.

import { connect } from 'node:net'
import type { Socket } from 'node:net'

const dripMs = 1000

export class SlowConnections {
  readonly #sockets: Socket[]
  readonly #opened: number
  readonly #drip: NodeJS.Timeout

  private constructor(sockets: Socket[], opened: number) {
    this.#sockets = sockets
    this.#opened = opened
    this.#drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write('x')
    }, dripMs)
  }

  /** Opens a connection per text, sends the text as the start of a request, and goes on with a byte a second. */
  static async open(url: string, starts: readonly string[]): Promise<SlowConnections> {
    const { hostname, port } = new URL(url)
    const sockets = starts.map((start) => {
      // Half open: the end of the other side does not close the socket.
      const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => socket.write(start))
      return socket.on('error', () => undefined).resume()
    })
    const opened = (await Promise.all(sockets.map(connects))).filter(Boolean).length
    return new SlowConnections(sockets, opened)
  }

  /** How many connections the service or its machine accepted, also those that the service has closed since. */
  get opened(): number {
    return this.#opened
  }

  [Symbol.dispose](): void {
    clearInterval(this.#drip)
    for (const socket of this.#sockets) socket.destroy()
  }
}

function connects(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('connect', () => {
      resolve(true)
    })
    socket.once('close', () => {
      resolve(false)
    })
  })
}
