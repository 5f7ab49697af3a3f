// The honest books of one companion device: what was handed to it and not yet acknowledged, in order.
import type { Stanza } from '../wire/stanza.ts'

export type Settlement = 'receipt' | 'ack' | 'nack'

export class DeliveryBooks {
  readonly #pending = new Map<string, Stanza>()
  readonly settled = { receipt: 0, ack: 0, nack: 0, unknown: 0 }
  redelivered = 0

  get size(): number {
    return this.#pending.size
  }

  enter(node: Stanza): void {
    const { id } = node.attrs
    if (id !== undefined) this.#pending.set(`${node.tag} ${id}`, node)
  }

  /** Only the client's own word takes a stanza off the books. */
  settle(kind: string, id: string, how: Settlement): boolean {
    const known = this.#pending.delete(`${kind} ${id}`)
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
