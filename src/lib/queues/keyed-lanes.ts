// One lane per key: work of the same key runs in order, work of different keys side by side.

import { getOrCreate } from '../keyed.ts'
import { Lane } from './lane.ts'

export class KeyedLanes {
  readonly #lanes = new Map<string, { lane: Lane; waiting: number }>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const entry = getOrCreate(this.#lanes, key, () => ({ lane: new Lane(), waiting: 0 }))
    entry.waiting++
    try {
      return await entry.lane.run(work)
    } finally {
      entry.waiting--
      if (entry.waiting === 0) this.#lanes.delete(key)
    }
  }
}
