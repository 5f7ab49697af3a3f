// The books of one companion device: the stanzas that it got and has not acknowledged yet, in order.
import { STATUS_JID } from '../wire/jid.ts'
import type { Stanza } from '../wire/stanza.ts'

export type Settlement = 'receipt' | 'ack' | 'nack'
export type Named = {
  id: string
  from?: string | undefined
  participant?: string | undefined
  type?: string | undefined
}

/** Many receipts carry the id of one message, so their sender and type belong to the name. */
function entryName(kind: string, { id, from, participant, type }: Named): string {
  return kind === 'receipt' ? [kind, id, from, participant, type].join(' ') : `${kind} ${id}`
}

export class DeliveryBooks {
  readonly #pending = new Map<string, Stanza>()
  /** Status messages that the client answered with an error. */
  readonly #refusedStatuses = new Set<string>()
  readonly #nacksSettle: boolean
  readonly settled = { receipt: 0, ack: 0, nack: 0, unknown: 0 }
  redelivered = 0

  constructor({ nacksSettle }: { nacksSettle: boolean }) {
    this.#nacksSettle = nacksSettle
  }

  get size(): number {
    return this.#pending.size
  }

  /** The status message that keeps everything else back: the client answered it with an error. */
  get refusedStatus(): Stanza | undefined {
    for (const name of this.#refusedStatuses) return this.#pending.get(name)
    return undefined
  }

  enter(node: Stanza): void {
    const { id, from, participant, type } = node.attrs
    if (id !== undefined) this.#pending.set(entryName(node.tag, { id, from, participant, type }), node)
  }

  /** Removes a stanza that the client acknowledged. Nothing else removes a stanza. */
  settle(kind: string, named: Named, how: Settlement): boolean {
    const name = entryName(kind, named)
    const known = this.#pending.get(name)
    this.settled[known ? how : 'unknown'] += 1
    if (!known) return false
    const isStatus = known.attrs['from'] === STATUS_JID
    if (how === 'nack' && (isStatus || !this.#nacksSettle)) {
      if (isStatus) this.#refusedStatuses.add(name)
      return false
    }
    this.#refusedStatuses.delete(name)
    return this.#pending.delete(name)
  }

  pending(): Stanza[] {
    return [...this.#pending.values()]
  }

  /** The pending stanzas, oldest first, without a copy of the list. */
  [Symbol.iterator](): Iterator<Stanza> {
    return this.#pending.values()
  }

  has({ tag, attrs: { id = '', from, participant, type } }: Stanza): boolean {
    return this.#pending.has(entryName(tag, { id, from, participant, type }))
  }

  unacknowledgedIds(): string[] {
    return this.pending().flatMap((node) => (node.tag === 'message' && node.attrs['id'] ? [node.attrs['id']] : []))
  }

  clear(): void {
    this.#pending.clear()
    this.#refusedStatuses.clear()
  }
}
