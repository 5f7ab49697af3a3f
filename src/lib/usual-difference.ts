// The usual difference between two clocks: the smallest of the last differences that were seen. Every difference contains a
// delay, and the smallest one contains the least.

const kept = 100

export class UsualDifference {
  readonly #differences: number[] = []
  #next = 0

  add(difference: number): void {
    this.#differences[this.#next] = difference
    this.#next = (this.#next + 1) % kept
  }

  /** Undefined before the first difference. */
  get smallest(): number | undefined {
    return this.#differences.length === 0 ? undefined : Math.min(...this.#differences)
  }

  clear(): void {
    this.#differences.length = 0
    this.#next = 0
  }
}
