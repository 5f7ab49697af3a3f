// Remembers the clients that asked for a user's devices and tells them when a device is added or removed.
import type { SeededRandom } from '../seeded-random.ts'
import { stanza, unixSeconds } from '../wire/stanza.ts'
import type { CompanionDevice } from './companion-device.ts'
import { keyIndexOf, type Device, type User } from './user.ts'
import type { SimClock } from '../../shiftable-clock.ts'

export class DeviceWatch {
  readonly #random: SeededRandom
  readonly #clock: SimClock
  readonly #watchers = new Map<User, Set<CompanionDevice>>()

  constructor(random: SeededRandom, clock: SimClock) {
    this.#random = random
    this.#clock = clock
  }

  /** A client keeps the answer it got, so it must learn of changes. */
  watch(user: User, watcher: CompanionDevice): void {
    const watchers = this.#watchers.get(user) ?? new Set()
    watchers.add(watcher)
    this.#watchers.set(user, watchers)
  }

  tell(changed: Device, change: 'add' | 'remove'): void {
    const { user, id } = changed
    // Clients store devices under both addresses of a user.
    const devices = (['pn', 'lid'] as const).map((addressing) => {
      return stanza('device', { jid: user.jid(addressing, id), 'key-index': String(keyIndexOf(id)) })
    })
    const attributes = {
      from: user.pnJid,
      type: 'devices',
      id: this.#random.hex(6),
      t: unixSeconds(this.#clock),
      lid: user.lidJid,
    }
    const node = stanza('notification', attributes, [stanza(change, { device_hash: this.#random.hex(4) }, devices)])
    for (const watcher of this.#watchers.get(user) ?? []) {
      const stillLinked = watcher.user.devices.get(watcher.id) === watcher
      if (watcher !== changed && stillLinked) watcher.deliver(node)
    }
  }
}
