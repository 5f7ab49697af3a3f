// How the states of the instances changed during the last 48 hours.
//
// Changes are stored in batches every few seconds, so that an outage of thousands of accounts costs a few writes. A crash
// loses the changes of the last seconds. The first state after the start is stored as any other.

import type { InstanceName } from '../core/ids.ts'
import type { InstanceState } from '../core/instance.ts'
import type { StateChange } from '../core/live.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { Clock } from '../lib/clock.ts'
import { Lane } from '../lib/queues/lane.ts'
import type { StateChangeStore } from '../storage/stores/live/state-change-store.ts'

type Deps = {
  store: Pick<StateChangeStore, 'add' | 'since' | 'prune'>
  newId: () => string
  clock: Pick<Clock, 'now'>
}

type Seen = {
  instance: InstanceName
  state: InstanceState
  reason: string
  /** One more attempt of an account that fails again and again for the same reason. */
  isRepeated: boolean
}

const keepMs = 48 * 3_600_000
/** A storage that is away for long must not fill the memory. The oldest changes are given up. */
const maxWaiting = 20_000
const maxReason = 300

export class StateHistory implements PerInstance {
  readonly #deps: Deps
  readonly #lane = new Lane()
  readonly #last = new Map<InstanceName, InstanceState>()
  #waiting: StateChange[] = []

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** An account that fails again and again shows as disconnected, not as a row for each attempt. */
  changed({ instance, state, reason, isRepeated }: Seen): void {
    if (this.#last.get(instance) === state || (isRepeated && state === 'connecting')) return
    this.#last.set(instance, state)
    const { newId, clock } = this.#deps
    this.#waiting.push({ id: newId(), instance, at: clock.now(), state, reason: reason.slice(0, maxReason) })
    if (this.#waiting.length > maxWaiting) this.#waiting.shift()
  }

  /** The last change until `from`, if one is known, and all changes after it, oldest first. */
  async since(instance: InstanceName, from: number): Promise<StateChange[]> {
    await this.flush()
    return inOrder(await this.#deps.store.since(instance, from), this.#deps.clock.now())
  }

  /** After a failure the changes wait for the next flush. Each has an id, so a repeated write adds nothing. */
  flush(): Promise<void> {
    return this.#lane.run(async () => {
      // A copy: changes that come while it is stored wait for the next flush.
      const batch = new Set(this.#waiting)
      await this.#deps.store.add([...batch])
      this.#waiting = this.#waiting.filter((change) => !batch.has(change))
    })
  }

  prune(): Promise<void> {
    return this.#deps.store.prune(this.#deps.clock.now() - keepMs)
  }

  /** What was seen of the instance is stored before it moves, or before its rows are deleted. */
  async leave(instance: InstanceName): Promise<void> {
    this.#last.delete(instance)
    await this.flush()
  }
}

/** Ids sort in the order of creation, times do not if the clock went back. No change is shown later than the one after it. */
function inOrder(changes: readonly StateChange[], now: number): StateChange[] {
  let latest = now
  const newestFirst = changes.toSorted((one, other) => (one.id > other.id ? -1 : 1))
  const shown = newestFirst.map((change) => {
    latest = Math.min(latest, change.at)
    return { ...change, at: latest }
  })
  return shown.reverse()
}
