// Watches the beats of the other nodes, on the clock of this one, and tells which of them stand still.

import type { NodeId } from '../../core/nodes/hold.ts'
import type { SeenNode } from '../../core/nodes/node.ts'
import type { RenewedAnswer } from '../../core/nodes/peers.ts'
import { longestGapMs, patienceMs } from './times.ts'

type Standing = { beat: number; since: number; hasBeaten: boolean }

/** When a question was sent and when its answer was read, on the monotonic clock. */
export type Span = { asked: number; heard: number }

export class NodeWatch {
  readonly #seen = new Map<NodeId, Standing>()
  #watchingSince = 0
  #lastHeard: number | undefined

  /** Notes what a beat of our own showed. Returns the nodes whose beat stood still for the patience. */
  note(others: readonly SeenNode[], { asked, heard }: Span): SeenNode[] {
    if (this.#lastHeard === undefined || heard - this.#lastHeard > longestGapMs) this.#begin(heard)
    this.#lastHeard = heard
    for (const id of this.#seen.keys()) if (!others.some((other) => other.id === id)) this.#seen.delete(id)
    for (const { id, beat } of others) {
      const seen = this.#seen.get(id)
      if (seen?.beat !== beat) this.#seen.set(id, { beat, since: heard, hasBeaten: seen !== undefined })
    }
    // The answer is as old as its question, at the most.
    return others.filter(({ id }) => asked - (this.#seen.get(id)?.since ?? asked) >= patienceMs)
  }

  /** Whether the node has beaten while it was watched. */
  hasBeaten(id: NodeId): boolean {
    return this.#seen.get(id)?.hasBeaten ?? false
  }

  /** The first moment after `asked` at which the patience with a node ends; undefined when no node is watched. */
  nextEnd(asked: number): number | undefined {
    const ends = [...this.#seen.values()].map(({ since }) => since + patienceMs).filter((end) => end > asked)
    return ends.length === 0 ? undefined : Math.min(...ends)
  }

  renewed(now: number): RenewedAnswer {
    // A node that has not beaten yet may give up no other one.
    if (this.#lastHeard === undefined) return { beatAgeMs: Number.MAX_SAFE_INTEGER, watchedMs: 0 }
    return { beatAgeMs: now - this.#lastHeard, watchedMs: now - this.#watchingSince }
  }

  /** What was seen before counts no more. */
  #begin(now: number): void {
    this.#seen.clear()
    this.#watchingSince = now
  }
}
