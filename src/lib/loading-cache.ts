// Remembers what was loaded under a key, with a limit of entries and of their age. Callers that ask meanwhile share one load.

import { BoundedMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'

type Options<Value> = {
  load: (key: string) => Promise<Value>
  clock: Pick<Clock, 'monotonic'>
  max: number
  ttlMs: number
}

export class LoadingCache<Value> {
  readonly #load: Options<Value>['load']
  readonly #entries: BoundedMap<Promise<Value>>

  constructor({ load, ...limits }: Options<Value>) {
    this.#load = load
    this.#entries = new BoundedMap(limits)
  }

  find(key: string): Promise<Value> {
    return this.#entries.get(key) ?? this.#loadNow(key)
  }

  /** A load that is under way is not used after this. */
  evict(key: string): void {
    this.#entries.delete(key)
  }

  evictAll(): void {
    this.#entries.clear()
  }

  #loadNow(key: string): Promise<Value> {
    const found = this.#load(key)
    this.#entries.set(key, found)
    // A failure is not an answer: the next caller asks again.
    found.catch(() => {
      if (this.#entries.get(key) === found) this.#entries.delete(key)
    })
    return found
  }
}
