// Remembers which keys were merged into which: a caller may still know the dropped key.

// A caller looks its key up a moment before it uses the key. So many merges do not happen in between.
const mostRemembered = 1000

export class MergedKeys {
  readonly #most: number
  /** The keys that were dropped last are at the end. */
  readonly #keptBy = new Map<string, string>()

  constructor(most = mostRemembered) {
    this.#most = most
  }

  /** The key that stands for this one now. */
  currentOf(key: string): string {
    let current = key
    for (let next = this.#keptBy.get(current); next !== undefined; next = this.#keptBy.get(current)) current = next
    return current
  }

  merge(keep: string, drop: string): void {
    const kept = this.currentOf(keep)
    if (kept === drop) return
    this.#keptBy.delete(drop)
    this.#keptBy.set(drop, kept)
    const [oldest] = this.#keptBy.keys()
    if (this.#keptBy.size > this.#most && oldest !== undefined) this.#keptBy.delete(oldest)
  }
}
