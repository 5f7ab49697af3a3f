// Counts wrong tokens per client address, so that a sign-in form cannot be used to guess the token.

import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { networkOfClient } from '../../lib/egress/address.ts'

export const mostTries = 5
const windowMs = 60_000
const mostAddresses = 10_000

export class SignInTries {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** When the last wrong tokens came, oldest first. */
  readonly #failures: BoundedMap<readonly number[]>

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
    this.#failures = new BoundedMap({ clock, max: mostAddresses, ttlMs: windowMs })
  }

  /** How many seconds the client must wait before it may try again; 0 when it may try now. */
  waitOf(address: string): number {
    const recent = this.#recent(networkOfClient(address))
    const [first] = recent
    if (first === undefined || recent.length < mostTries) return 0
    return Math.ceil((first + windowMs - this.#clock.monotonic()) / 1000)
  }

  fail(address: string): void {
    const network = networkOfClient(address)
    this.#failures.set(network, [...this.#recent(network), this.#clock.monotonic()].slice(-mostTries))
  }

  #recent(network: string): readonly number[] {
    const from = this.#clock.monotonic() - windowMs
    return (this.#failures.get(network) ?? []).filter((at) => at > from)
  }
}
