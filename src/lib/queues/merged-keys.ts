// Remembers which keys were merged into which: a caller may still know the dropped key.

export class MergedKeys {
  readonly #keptBy = new Map<string, string>()

  /** The key that stands for this one now. */
  currentOf(key: string): string {
    let current = key
    for (let next = this.#keptBy.get(current); next !== undefined; next = this.#keptBy.get(current)) current = next
    return current
  }

  merge(keep: string, drop: string): void {
    const kept = this.currentOf(keep)
    if (kept !== drop) this.#keptBy.set(drop, kept)
  }
}
