// Remembers which labels the service wrote into conversations, and notices which changes of agents its write has undone.
//
// The helpdesk replaces all labels of a conversation at once. What an agent changes between our read and our write is undone.
// The callback of our write says what was there before it, so the change of the agent can be made again. A callback with the
// same labels may as well be an agent's, so it never means that there is nothing to look at.

import type { ConversationLabels } from '../../../core/sync/labels.ts'
import type { DestinationKey } from '../../../core/ids.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'

type At = { destination: DestinationKey; conversationId: number }
type LabelWrite = { seen: readonly string[]; written: readonly string[] }
/** Changes of agents that a write of ours has undone. */
type Undone = { added: readonly string[]; removed: readonly string[]; by: LabelWrite }

const maxRemembered = 5000
/** Callbacks come within seconds, or after some minutes of repetitions. */
const rememberedMs = 10 * 60_000

export class LabelWrites {
  readonly #writes: BoundedMap<LabelWrite>
  readonly #undone: BoundedMap<Undone>

  constructor({ clock }: { clock: Clock }) {
    this.#writes = new BoundedMap({ clock, max: maxRemembered, ttlMs: rememberedMs })
    this.#undone = new BoundedMap({ clock, max: maxRemembered, ttlMs: rememberedMs })
  }

  /** The service is about to replace the labels that it has seen. */
  begin(at: At, seen: readonly string[], written: readonly string[]): LabelWrite {
    const write = { seen, written }
    this.#writes.set(keyOf(at), write)
    return write
  }

  /** A callback tells of a change: perhaps of our own write, and then of what it has undone. */
  heard({ before, after, ...at }: ConversationLabels): void {
    const write = this.#writes.get(keyOf(at))
    if (!write || !isSame(write.written, after)) return
    // The helpdesk may repeat the callback after the next change of an agent.
    this.#writes.delete(keyOf(at))
    const added = before.filter((title) => !write.seen.includes(title) && !write.written.includes(title))
    const removed = write.seen.filter((title) => write.written.includes(title) && !before.includes(title))
    if (added.length + removed.length > 0) this.#undone.set(keyOf(at), { added, removed, by: write })
  }

  /** The labels as agents have left them, given those that the helpdesk shows. */
  restored(at: At, shown: readonly string[]): string[] {
    const { added = [], removed = [] } = this.#undone.get(keyOf(at)) ?? {}
    return [...new Set([...shown, ...added])].filter((title) => !removed.includes(title))
  }

  /** What was undone is at the helpdesk again, with this write or, when it is null, without one. */
  settled(at: At, write: LabelWrite | null): void {
    // The callback of a write may come before its answer: what this write has undone is not at the helpdesk yet.
    if (write && this.#undone.get(keyOf(at))?.by === write) return
    this.#undone.delete(keyOf(at))
  }
}

function keyOf({ destination, conversationId }: At): string {
  return `${destination}|${conversationId}`
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).symmetricDifference(new Set(other)).size === 0
}
