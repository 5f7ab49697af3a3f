// Counts usage per instance and day in memory, and adds it to storage at intervals, before each read and at the end.

import { randomUUID } from 'node:crypto'
import type { InstanceName } from '../core/ids.ts'
import { noUsage } from '../core/usage.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { UsageCounter, UsageCounts } from '../core/usage.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import { getOrCreate } from '../lib/keyed.ts'
import type {
  DailyUsage,
  MonthlyUsage,
  UsageBatch,
  UsageKey,
  UsageRange,
  UsageStore,
} from '../storage/stores/ledger/usage-store.ts'

type Deps = {
  store: UsageStore
  clock: Clock
  /** Called after every count. */
  onCounted?: ((instance: InstanceName, counter: UsageCounter) => void) | undefined
}
type Pending = UsageKey & UsageCounts

const dayMs = 24 * 3_600_000

export class Usage implements PerInstance {
  readonly #deps: Deps
  #pending = new Map<string, Pending>()
  /** Whether this batch is stored is unknown. It is repeated under its id, so that it counts once. */
  #unconfirmed: UsageBatch | undefined
  #day = { number: NaN, text: '' }
  #last: Promise<void> = Promise.resolve()
  #waiting: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  count(instance: InstanceName, ownerTag: string, counter: UsageCounter, amount = 1): void {
    this.#pendingOf({ instance, day: this.#today(), ownerTag })[counter] += amount
    this.#deps.onCounted?.(instance, counter)
  }

  /** Stores what was counted so far; after a failure the counts wait for the next flush. */
  flush(): Promise<void> {
    // A flush that has not begun yet stores the counts of this caller, too.
    if (this.#waiting) return this.#waiting
    const turn = this.#last.then(() => {
      this.#waiting = undefined
      return this.#store()
    })
    this.#waiting = turn
    // The next flush runs also when this one fails; its callers see the failure.
    this.#last = turn.catch(ignoreRejection)
    return turn
  }

  /** The counts of an instance are stored before it moves. */
  leave(): Promise<void> {
    return this.flush()
  }

  async daily(range: UsageRange, instance?: InstanceName): Promise<DailyUsage[]> {
    await this.flush()
    return this.#deps.store.daily(range, instance)
  }

  async monthly(range: UsageRange): Promise<MonthlyUsage[]> {
    await this.flush()
    return this.#deps.store.monthly(range)
  }

  async totals(): Promise<UsageCounts> {
    await this.flush()
    return this.#deps.store.totals()
  }

  async #store(): Promise<void> {
    const { store, clock } = this.#deps
    if (this.#unconfirmed) await store.add(this.#unconfirmed)
    this.#unconfirmed = { id: randomUUID(), at: clock.now(), rows: [...this.#pending.values()] }
    this.#pending = new Map()
    await store.add(this.#unconfirmed)
    this.#unconfirmed = undefined
  }

  #pendingOf({ instance, day, ownerTag }: UsageKey): Pending {
    // Neither a name of an instance nor a day has a space.
    const key = `${instance} ${day} ${ownerTag}`
    return getOrCreate(this.#pending, key, () => ({ ...noUsage, instance, day, ownerTag }))
  }

  #today(): string {
    const now = this.#deps.clock.now()
    const number = Math.floor(now / dayMs)
    if (number !== this.#day.number) this.#day = { number, text: new Date(now).toISOString().slice(0, 10) }
    return this.#day.text
  }
}
