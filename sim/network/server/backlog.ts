// Hands the stanzas that waited for a client over, one window at a time: the client asks for each window.
//
// A status message that the client answered with an error keeps all other stanzas back.
import type { Stanza } from '../wire/stanza.ts'
import type { DeliveryBooks } from './delivery-books.ts'

type Deps = { books: DeliveryBooks; send: (node: Stanza) => void }

export class Backlog {
  readonly #deps: Deps
  /** What the present connection has got. */
  #handedOver = new WeakSet<Stanza>()
  /** How many stanzas the client has asked for and not got. */
  #allowed = 0
  count = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A new connection has got nothing yet. */
  restart(): void {
    this.#handedOver = new WeakSet()
    this.#allowed = 0
    this.count = 0
  }

  /** The client may get this many more. */
  allow(count: number): void {
    this.#allowed += count
  }

  /** The client has got this stanza outside the backlog. */
  skip(node: Stanza): void {
    this.#handedOver.add(node)
  }

  /** Delivers what the client has asked for. True when nothing waits any more. */
  handOver(): boolean {
    const { refusedStatus } = this.#deps.books
    if (refusedStatus) {
      this.#deliver([refusedStatus])
      return false
    }
    return this.#deliver(this.#deps.books)
  }

  /** True when all of these are delivered. */
  #deliver(waiting: Iterable<Stanza>): boolean {
    const { books, send } = this.#deps
    for (const node of waiting) {
      if (this.#handedOver.has(node)) continue
      if (this.#allowed === 0) return false
      this.#allowed -= 1
      this.#handedOver.add(node)
      books.redelivered += 1
      send({ ...node, attrs: { ...node.attrs, offline: String(this.count) } })
      this.count += 1
    }
    return true
  }
}
