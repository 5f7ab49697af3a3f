// A small cache with the library's interface. The library's default cache keeps timers for every connection.

import { BoundedMap } from '../../lib/bounded-map.ts'
import type { CacheStore } from './library.ts'

export class LibraryCache implements CacheStore {
  readonly #entries: BoundedMap<unknown>

  constructor(options: ConstructorParameters<typeof BoundedMap>[0]) {
    this.#entries = new BoundedMap(options)
  }

  get(key: string): never {
    // The library's interface lets the caller choose the type, so there is nothing to check here.
    return this.#entries.get(key) as never
  }

  set(key: string, value: unknown): void {
    this.#entries.set(key, value)
  }

  del(key: string): void {
    this.#entries.delete(key)
  }

  flushAll(): void {
    this.#entries.clear()
  }
}
