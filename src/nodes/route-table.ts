// Remembers for a while which node holds an instance, so that a forwarded request costs no query.

import type { InstanceName } from '../core/ids.ts'
import type { OwnerAnswer, Owners } from '../core/nodes/owners.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'
import { SingleFlight } from '../lib/queues/single-flight.ts'
import type { KnownNames } from './known-names.ts'

type Deps = {
  /** What this node holds is never looked up. */
  isHere: (instance: InstanceName) => boolean
  /** Asks the database. */
  find: (instance: InstanceName) => Promise<OwnerAnswer>
  names: Pick<KnownNames, 'has'>
  takeQuarantined: Owners['takeQuarantined']
  clock: Pick<Clock, 'monotonic'>
}

const ttlMs = 30_000
const most = 20_000

export class RouteTable implements Owners {
  readonly #deps: Deps
  readonly #routes: BoundedMap<Exclude<OwnerAnswer, string>>
  readonly #flights = new SingleFlight()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#routes = new BoundedMap({ clock: deps.clock, max: most, ttlMs })
  }

  async ownerOf(instance: InstanceName): Promise<OwnerAnswer> {
    return this.#remembered(instance) ?? this.#flights.run(instance, () => this.#find(instance))
  }

  async callbackOwnerOf(instance: InstanceName): Promise<OwnerAnswer> {
    const remembered = this.#remembered(instance)
    if (remembered) return remembered
    return (await this.#deps.names.has(instance)) ? this.ownerOf(instance) : 'unknown'
  }

  forget(instance: InstanceName): void {
    this.#routes.delete(instance)
  }

  takeQuarantined(instance: InstanceName): Promise<void> {
    return this.#deps.takeQuarantined(instance)
  }

  #remembered(instance: InstanceName): OwnerAnswer | undefined {
    return this.#deps.isHere(instance) ? 'here' : this.#routes.get(instance)
  }

  async #find(instance: InstanceName): Promise<OwnerAnswer> {
    const found = await this.#deps.find(instance)
    // Only an owner is remembered: every other answer may change at any moment, and the owner itself says when it does not fit.
    if (typeof found === 'object') this.#routes.set(instance, found)
    return found
  }
}
