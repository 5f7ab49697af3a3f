// When each instance last received and sent a message. The times are stored every minute and at the end, so a time may be a
// minute too old after a crash.

import type { InstanceName } from '../core/ids.ts'
import type { LastMessageTimes } from '../core/live.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { Clock } from '../lib/clock.ts'
import { Lane } from '../lib/queues/lane.ts'
import type { LastMessageStore } from '../storage/stores/live/last-message-store.ts'

type Deps = { store: Pick<LastMessageStore, 'find' | 'put'>; clock: Pick<Clock, 'now'> }

const unknown: LastMessageTimes = { inAt: null, outAt: null }

export class LastMessages implements PerInstance {
  readonly #deps: Deps
  readonly #lane = new Lane()
  readonly #times = new Map<InstanceName, LastMessageTimes>()
  /** The instances whose times are not stored yet. */
  readonly #changed = new Set<InstanceName>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async take(instance: InstanceName): Promise<void> {
    const stored = await this.#deps.store.find(instance)
    if (stored) this.#times.set(instance, stored)
  }

  of(instance: InstanceName): LastMessageTimes {
    return this.#times.get(instance) ?? unknown
  }

  note(instance: InstanceName, direction: 'in' | 'out'): void {
    const at = this.#deps.clock.now()
    const { inAt, outAt } = this.of(instance)
    this.#times.set(instance, direction === 'in' ? { inAt: at, outAt } : { inAt, outAt: at })
    this.#changed.add(instance)
  }

  /** After a failure the times wait for the next flush. */
  flush(): Promise<void> {
    return this.#lane.run(async () => {
      const batch = new Map([...this.#changed].map((instance) => [instance, this.of(instance)]))
      await this.#deps.store.put(batch)
      for (const [instance, times] of batch) if (this.of(instance) === times) this.#changed.delete(instance)
    })
  }

  /** The times are stored before the instance moves, or before its row is deleted. */
  async leave(instance: InstanceName): Promise<void> {
    await this.flush()
    this.#times.delete(instance)
    this.#changed.delete(instance)
  }
}
