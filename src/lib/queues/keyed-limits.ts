// Limits how much work runs at once under each key; the rest waits in order. A key without work takes no memory.

import { getOrCreate } from '../keyed.ts'
import { Semaphore } from './semaphore.ts'

type Limit = { places: Semaphore; users: number }

export class KeyedLimits<Key> {
  readonly #width: number
  readonly #limits = new Map<Key, Limit>()

  constructor(width: number) {
    this.#width = width
  }

  /** How many keys have work. */
  get size(): number {
    return this.#limits.size
  }

  /** Rejects when the signal aborts before the work has begun. */
  async run<Result>(key: Key, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const limit = getOrCreate(this.#limits, key, () => ({ places: new Semaphore(this.#width), users: 0 }))
    limit.users++
    try {
      const leave = await limit.places.enter(signal)
      try {
        return await work()
      } finally {
        leave()
      }
    } finally {
      limit.users--
      if (limit.users === 0) this.#limits.delete(key)
    }
  }
}
