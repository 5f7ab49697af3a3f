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

  add(entry: T): void {
    this.#entries.add(entry)
    if (this.#entries.size <= this.#limit) return
    for (const oldest of this.#entries) {
      this.#entries.delete(oldest)
      return
    }
  }
}
