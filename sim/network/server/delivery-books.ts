// The books of one companion device: the stanzas that it got and has not acknowledged yet, in order.
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
  readonly settled = { receipt: 0, ack: 0, nack: 0, unknown: 0 }
  redelivered = 0

  get size(): number {
    return this.#pending.size
  }

  enter(node: Stanza): void {
    const { id, from, participant, type } = node.attrs
    if (id !== undefined) this.#pending.set(entryName(node.tag, { id, from, participant, type }), node)
  }

  /** Removes a stanza that the client acknowledged. Nothing else removes a stanza. */
  settle(kind: string, named: Named, how: Settlement): boolean {
    const known = this.#pending.delete(entryName(kind, named))
    this.settled[known ? how : 'unknown'] += 1
    return known
  }

  pending(): Stanza[] {
    return [...this.#pending.values()]
  }

  unacknowledgedIds(): string[] {
    return this.pending().flatMap((node) => (node.tag === 'message' && node.attrs['id'] ? [node.attrs['id']] : []))
  }

  clear(): void {
    this.#pending.clear()
  }
}
