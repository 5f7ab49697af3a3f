// Ends the stream of a client that does not acknowledge a top-level <status> stanza.
import type { SimClock } from '../../shiftable-clock.ts'
import type { Connection } from '../wire/connection.ts'
import { stanza, type Stanza } from '../wire/stanza.ts'
import type { DeliveryBooks } from './delivery-books.ts'

/** The server waits this long for the acknowledgement. */
const PATIENCE_MS = 50 * 60_000

export class OwedAcks {
  readonly #clock: SimClock
  readonly #books: DeliveryBooks

  constructor(clock: SimClock, books: DeliveryBooks) {
    this.#clock = clock
    this.#books = books
  }

  /** To be called when a stanza is sent on this connection. */
  watch(connection: Connection, node: Stanza): void {
    if (node.tag !== 'status') return
    const cancel = this.#clock.after(PATIENCE_MS, () => {
      if (!this.#books.has(node)) return
      const owed = stanza('ack', { id: node.attrs.id, class: 'status' })
      connection.end(stanza('stream:error', {}, [owed]))
    })
    void connection.closed.then(cancel)
  }
}
