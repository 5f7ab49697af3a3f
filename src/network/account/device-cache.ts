// Remembers which devices a contact has, stored with the account's keys.
//
// Without the stored list every restart would open a new Signal session with every contact.

import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { AccountKeys } from './account-keys.ts'
import type { CacheStore } from '../library/library.ts'

const kind = 'user-devices'
/** The server announces changes. Asking again once a day covers changes that were announced while we were offline. */
const trustedMs = 24 * 60 * 60 * 1000

type Stored = { at: number; devices: unknown }
type Deps = { keys: AccountKeys; clock: Clock }

/** The library's `userDevicesCache`. Writes are not awaited, because a failure to remember must not fail a send. */
export class DeviceCache implements CacheStore {
  readonly #deps: Deps
  #revision = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Grows with every change. */
  get revision(): number {
    return this.#revision
  }

  async get<T>(user: string): Promise<T> {
    return (await this.getAll<T>([user])).get(user) as T
  }

  /** The lists that are remembered. Users without one are left out. */
  async getAll<T>(users: readonly string[]): Promise<Map<string, T>> {
    const { keys, clock } = this.#deps
    const found = new Map<string, T>()
    for (const [user, stored] of Object.entries(await keys.get(kind, users)) as [string, Stored][]) {
      if (clock.now() - stored.at < trustedMs) found.set(user, stored.devices as T)
    }
    return found
  }

  set(user: string, devices: unknown): void {
    this.setAll(new Map([[user, devices]]))
  }

  setAll(lists: ReadonlyMap<string, unknown>): void {
    const at = this.#deps.clock.now()
    this.#write(Object.fromEntries([...lists].map(([user, devices]) => [user, { at, devices }])))
  }

  del(user: string): void {
    this.delAll([user])
  }

  delAll(users: readonly string[]): void {
    this.#write(Object.fromEntries(users.map((user) => [user, null])))
  }

  /** The library never calls it. */
  flushAll(): void {
    return undefined
  }

  #write(values: Record<string, Stored | null>): void {
    this.#revision += 1
    this.#deps.keys.set({ [kind]: values }).catch(ignoreRejection)
  }
}
