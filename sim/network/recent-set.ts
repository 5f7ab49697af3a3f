// A set that forgets its oldest entries, for things that must be remembered long but not for ever.
export class RecentSet<T> {
  readonly #limit: number
  readonly #entries = new Set<T>()

  constructor(limit: number) {
    this.#limit = limit
  }

  has(entry: T): boolean {
    return this.#entries.has(entry)
  }

  add(entry: T): void {
    this.#entries.add(entry)
    if (this.#entries.size <= this.#limit) return
    for (const oldest of this.#entries) {
      this.#entries.delete(oldest)
      return
    }
  }
}
