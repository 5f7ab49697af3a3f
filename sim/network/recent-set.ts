// A set of limited size that forgets its oldest entries.
export class RecentSet<T> {
  readonly #limit: number
  readonly #entries = new Set<T>()

  constructor(limit: number) {
    this.#limit = limit
  }

  has(entry: T): boolean {
    return this.#entries.has(entry)
  }

  /** False when the entry is in the set already. */
  add(entry: T): boolean {
    const before = this.#entries.size
    this.#entries.add(entry)
    if (this.#entries.size === before) return false
    const [oldest] = before < this.#limit ? [] : this.#entries
    if (oldest !== undefined) this.#entries.delete(oldest)
    return true
  }
}
