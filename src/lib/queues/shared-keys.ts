// Work that shares a key runs side by side. Work that must be alone closes the key: it waits until the work that uses the key has
// ended, and work that comes meanwhile waits until the key is open again.

import { orAbort } from '../abort.ts'
import { getOrCreate } from '../keyed.ts'

type Entry = {
  users: number
  /** Called when the last user has left. */
  onIdle: (() => void) | undefined
  /** Resolves when the key is open again. */
  closed: Promise<void> | undefined
}

export class SharedKeys {
  readonly #entries = new Map<string, Entry>()

  /** Resolves when the key is open again; undefined while it is open. */
  closed(key: string): Promise<void> | undefined {
    return this.#entries.get(key)?.closed
  }

  /** The signal ends the wait for a closed key. */
  async share<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let closed = this.closed(key); closed; closed = this.closed(key)) {
      await (signal ? orAbort(closed, signal) : closed)
    }
    const entry = this.#entryOf(key)
    entry.users++
    try {
      return await work()
    } finally {
      entry.users--
      if (entry.users === 0) entry.onIdle?.()
      this.#tidyUp(key, entry)
    }
  }

  /** Closes the keys in a fixed order, so that two callers never wait for each other. */
  close<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    return this.#closeFrom([...new Set(keys)].sort(), work)
  }

  #closeFrom<T>([key, ...rest]: readonly string[], work: () => Promise<T>): Promise<T> {
    return key === undefined ? work() : this.#closeOne(key, () => this.#closeFrom(rest, work))
  }

  async #closeOne<T>(key: string, work: () => Promise<T>): Promise<T> {
    for (let closed = this.closed(key); closed; closed = this.closed(key)) await closed
    const entry = this.#entryOf(key)
    const open = Promise.withResolvers<undefined>()
    entry.closed = open.promise
    try {
      if (entry.users > 0) {
        await new Promise<void>((resolve) => {
          entry.onIdle = resolve
        })
      }
      return await work()
    } finally {
      entry.onIdle = undefined
      entry.closed = undefined
      this.#tidyUp(key, entry)
      open.resolve(undefined)
    }
  }

  #entryOf(key: string): Entry {
    return getOrCreate(this.#entries, key, () => ({ users: 0, onIdle: undefined, closed: undefined }))
  }

  #tidyUp(key: string, { users, closed }: Entry): void {
    if (users === 0 && closed === undefined) this.#entries.delete(key)
  }
}
