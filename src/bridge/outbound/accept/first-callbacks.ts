// Remembers when each destination sent us its first callback. An older message was written before the helpdesk called us.

import type { DestinationKey } from '../../../core/ids.ts'
import type { Destination } from '../../../core/downstream.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { SingleFlight } from '../../../lib/queues/single-flight.ts'
import type { FirstCallbackStore } from '../../../storage/stores/messages/first-callback-store.ts'

type Deps = {
  store: Pick<FirstCallbackStore, 'find' | 'note'>
  clock: Clock
  log: Log
}

export class FirstCallbacks {
  readonly #deps: Deps
  readonly #known = new Map<DestinationKey, number>()
  readonly #flights = new SingleFlight()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A callback of this destination came. Its first one is stored in the background. */
  note({ key }: Pick<Destination, 'key'>): void {
    if (this.#current(key) !== undefined) return
    this.of(key).catch((err: unknown) => {
      this.#deps.log.warn({ err, destination: key }, 'the time of a first callback could not be stored yet')
    })
  }

  /** The time of the first callback, which is now when no callback came before. */
  of(key: DestinationKey): Promise<number> {
    const known = this.#current(key)
    return known === undefined ? this.#flights.run(key, () => this.#learn(key)) : Promise.resolve(known)
  }

  /** A time in the future was noted before the clock was put back. It is noted anew. */
  #current(key: DestinationKey): number | undefined {
    const known = this.#known.get(key)
    return known !== undefined && known <= this.#deps.clock.now() ? known : undefined
  }

  async #learn(key: DestinationKey): Promise<number> {
    const { store, clock } = this.#deps
    const now = clock.now()
    let heardAt = await store.find(key)
    if (heardAt === undefined || heardAt > now) {
      await store.note(key, now)
      heardAt = now
    }
    this.#known.set(key, heardAt)
    return heardAt
  }
}
