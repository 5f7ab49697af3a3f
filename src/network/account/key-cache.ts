// The keys of one account in memory, including keys that are known not to exist.
//
// The cache is bounded and drops the least recently used keys first. It never drops a key that is not stored yet.

export type CacheLimits = { entries: number; bytes: number }

/** Prekeys are the most numerous keys and each is needed once. The other kinds are read once per connection. */
const notKept = new Set(['pre-key', 'creds', 'app-state-sync-version'])

const costOfEntry = 64

type Deps = { limits: CacheLimits; isUnsaved: (name: string) => boolean }

export class KeyCache {
  readonly #deps: Deps
  readonly #entries = new Map<string, Uint8Array | null>()
  #bytes = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Undefined when the cache does not know; null when the key does not exist. */
  get(name: string): Uint8Array | null | undefined {
    const value = this.#entries.get(name)
    if (value === undefined) return undefined
    this.#entries.delete(name)
    this.#entries.set(name, value)
    return value
  }

  /** Keeps a value that is on its way to storage. */
  put(name: string, value: Uint8Array | null): void {
    this.#forget(name)
    this.#entries.set(name, value)
    this.#bytes += costOf(name, value)
    this.#shrink()
  }

  /** Keeps a value that was read from storage. */
  remember(kind: string, name: string, value: Uint8Array | null): void {
    if (!notKept.has(kind)) this.put(name, value)
  }

  /** The write of this key is on disk. */
  saved(kind: string, name: string): void {
    if (notKept.has(kind) && !this.#deps.isUnsaved(name)) this.#forget(name)
  }

  #forget(name: string): void {
    const value = this.#entries.get(name)
    if (value === undefined) return
    this.#entries.delete(name)
    this.#bytes -= costOf(name, value)
  }

  #shrink(): void {
    const { limits, isUnsaved } = this.#deps
    if (this.#entries.size <= limits.entries && this.#bytes <= limits.bytes) return
    for (const name of this.#entries.keys()) {
      if (!isUnsaved(name)) this.#forget(name)
      if (this.#entries.size <= limits.entries && this.#bytes <= limits.bytes) return
    }
  }
}

/** The name of a key in memory. */
export function keyName(kind: string, id: string): string {
  return `${kind} ${id}`
}

function costOf(name: string, value: Uint8Array | null): number {
  return costOfEntry + name.length + (value?.byteLength ?? 0)
}
