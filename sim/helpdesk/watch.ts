// Waits until a condition holds: checks it after every change, with a name and a time limit.

import { DEFAULT_WAIT_MS } from '../event-log.ts'

export class Watch {
  readonly #askers = new Set<() => void>()
  #isScheduled = false

  /** Many changes come at once, so the conditions are checked once after all of them. */
  changed(): void {
    if (this.#isScheduled || this.#askers.size === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      for (const ask of [...this.#askers]) ask()
    })
  }

  /** The listener hears of every change from now on, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#askers.add(listener)
    return () => {
      this.#askers.delete(listener)
    }
  }

  until<T>(what: string, probe: () => T | undefined, instead: () => string, timeoutMs = DEFAULT_WAIT_MS): Promise<T> {
    return new Promise((resolve, reject) => {
      const ask = () => {
        const found = probe()
        if (found === undefined) return
        finish()
        resolve(found)
      }
      const timer = setTimeout(() => {
        finish()
        reject(new Error(`waited ${timeoutMs} ms for ${what}; ${instead()}`))
      }, timeoutMs)
      const finish = () => {
        clearTimeout(timer)
        this.#askers.delete(ask)
      }
      this.#askers.add(ask)
      ask()
    })
  }
}
