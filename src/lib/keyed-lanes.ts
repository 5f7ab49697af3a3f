// One lane per key: work of the same key runs in order, work of different keys side by side.

import { Lane } from './lane.ts'

export class KeyedLanes {
  readonly #lanes = new Map<string, { lane: Lane; waiting: number }>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const entry = this.#lanes.get(key) ?? { lane: new Lane(), waiting: 0 }
    this.#lanes.set(key, entry)
    entry.waiting++
    try {
      return await entry.lane.run(work)
    } finally {
      entry.waiting--
      if (entry.waiting === 0) this.#lanes.delete(key)
    }
  }
}
