// One read for all callers that ask in the same turn of the event loop, each for a key of its own: a thousand instances that are
// taken at a start need no thousand reads. The read begins after the call, so what happened before the call counts.

import { setImmediate as nextTurn } from 'node:timers/promises'

/** Bounds how long one read keeps others waiting. */
const mostKeys = 100

type Found<Value> = ReadonlyMap<string, Value>
type Asked<Value> = { keys: Set<string>; found: Promise<Found<Value>> }

export class SharedReads<Value> {
  readonly #read: (keys: readonly string[]) => Promise<Found<Value>>
  #asked: Asked<Value> | undefined

  constructor(read: (keys: readonly string[]) => Promise<Found<Value>>) {
    this.#read = read
  }

  /** Undefined when the read has found nothing of this key. */
  async find(key: string): Promise<Value | undefined> {
    const asked = (this.#asked ??= this.#begin())
    asked.keys.add(key)
    if (asked.keys.size >= mostKeys) this.#asked = undefined
    return (await asked.found).get(key)
  }

  #begin(): Asked<Value> {
    const keys = new Set<string>()
    const found = nextTurn().then(() => {
      if (this.#asked?.keys === keys) this.#asked = undefined
      return this.#read(padded([...keys]))
    })
    return { keys, found }
  }
}

/**
 * Repeats the last key until their number is a power of two. Each number of keys is an SQL text of its own, and few texts stay
 * prepared.
 */
function padded(keys: readonly string[]): readonly string[] {
  const size = 2 ** Math.ceil(Math.log2(keys.length))
  return [...keys, ...Array.from({ length: size - keys.length }, () => keys.at(-1) ?? '')]
}
