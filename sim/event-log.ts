// A list of events that tests wait on. The error of a timed-out wait shows the events that came instead.

/** Only a hang takes longer, even on a machine whose cores are busy with other work. */
export const DEFAULT_WAIT_MS = 180_000

type Waiter<T> = { matches: (entry: T) => boolean; resolve: (entry: T) => void }

export class EventLog<T> {
  readonly #name: string
  readonly #describe: (entry: T) => string
  readonly #limit: number
  readonly #waiters = new Set<Waiter<T>>()
  readonly #listeners = new Set<(entry: T) => void>()
  #entries: T[] = []
  #forgotten = 0

  constructor(name: string, describe: (entry: T) => string, limit = 10_000) {
    this.#name = name
    this.#describe = describe
    this.#limit = limit
  }

  get entries(): readonly T[] {
    return this.#entries
  }

  /** How many entries were ever added. Use it as a position for `after` and `waitAfter`. */
  get length(): number {
    return this.#forgotten + this.#entries.length
  }

  after(position: number): readonly T[] {
    return this.#entries.slice(Math.max(position - this.#forgotten, 0))
  }

  add(entry: T): void {
    this.#entries.push(entry)
    if (this.#entries.length > this.#limit * 2) {
      this.#forgotten += this.#entries.length - this.#limit
      this.#entries = this.#entries.slice(-this.#limit)
    }
    for (const waiter of this.#waiters) {
      if (!waiter.matches(entry)) continue
      this.#waiters.delete(waiter)
      waiter.resolve(entry)
    }
    for (const listener of this.#listeners) listener(entry)
  }

  /** The listener hears every entry from now on, until the returned function is called. */
  subscribe(listener: (entry: T) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  clear(): void {
    this.#forgotten += this.#entries.length
    this.#entries = []
  }

  /** Resolves with the first entry that matches. Entries that are already in the log count. */
  waitFor(what: string, matches: (entry: T) => boolean, timeoutMs = DEFAULT_WAIT_MS): Promise<T> {
    const here = this.#entries.find(matches)
    if (here !== undefined) return Promise.resolve(here)
    return this.#next(what, matches, timeoutMs)
  }

  /** Like waitFor, but entries before the position do not count. */
  waitAfter(position: number, what: string, matches: (entry: T) => boolean, timeoutMs = DEFAULT_WAIT_MS): Promise<T> {
    const here = this.after(position).find(matches)
    if (here !== undefined) return Promise.resolve(here)
    return this.#next(what, matches, timeoutMs)
  }

  #next(what: string, matches: (entry: T) => boolean, timeoutMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter)
        reject(new Error(this.#complaint(what, timeoutMs)))
      }, timeoutMs)
      const waiter: Waiter<T> = {
        matches,
        resolve: (entry) => {
          clearTimeout(timer)
          resolve(entry)
        },
      }
      this.#waiters.add(waiter)
    })
  }

  #complaint(what: string, timeoutMs: number): string {
    const came = this.#entries.slice(-8).map((entry) => `  ${this.#describe(entry)}`)
    const instead = came.length === 0 ? 'nothing came' : `what came:\n${came.join('\n')}`
    return `waited ${timeoutMs} ms for ${what} in ${this.#name}; ${instead}`
  }
}
