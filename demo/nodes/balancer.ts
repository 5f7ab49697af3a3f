// One address in front of all nodes, like the balancer of a real set-up: each connection goes to a node that runs.

import { createServer, connect } from 'node:net'
import type { Socket } from 'node:net'

export class Balancer {
  readonly #portsNow: () => readonly number[]
  readonly #open = new Set<Socket>()
  #turn = 0
  readonly #server = createServer((client) => {
    this.#pass(client)
  })

  /** `portsNow` names the nodes that take requests. */
  constructor(portsNow: () => readonly number[]) {
    this.#portsNow = portsNow
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', resolve)
    })
  }

  end(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }

  #pass(client: Socket): void {
    const ports = this.#portsNow()
    const port = ports[this.#turn++ % Math.max(ports.length, 1)]
    if (port === undefined) {
      client.destroy()
      return
    }
    const node = connect(port, '127.0.0.1')
    this.#join(client, node)
    this.#join(node, client)
  }

  /** What ends one side ends the other. */
  #join(from: Socket, to: Socket): void {
    this.#open.add(from)
    from.on('error', () => undefined)
    from.on('close', () => {
      this.#open.delete(from)
      to.destroy()
    })
    from.pipe(to)
  }
}
