// Destinations that take nothing at the moment: whoever wants to deliver there waits, somebody asks now and then whether
// it works again, and the operator hears of it once.
//
// open  → held when a delivery finds the destination itself broken
// held  → open when a probe succeeds or the configuration changes

import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

type Deps = { clock: Clock; log: Log }
type Hold = { destination: string; reason: string; since: number; released: PromiseWithResolvers<void>; cancel: () => void }

export type HeldDestination = { destination: string; reason: string; since: number }

const probeMs = 30_000

export class DestinationHolds {
  readonly #deps: Deps
  readonly #holds = new Map<string, Hold>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  list(): HeldDestination[] {
    return [...this.#holds.values()].map(({ destination, reason, since }) => ({ destination, reason, since }))
  }

  /** Resolves when nothing is known against this destination; undefined when that is so already. */
  waitFor(key: string): Promise<void> | undefined {
    return this.#holds.get(key)?.released.promise
  }

  /** Holds the destination until `probe` resolves, under a key that tells apart who asks there. */
  hold(key: string, destination: string, reason: string, probe: () => Promise<void>): void {
    const known = this.#holds.get(key)
    if (known) {
      known.reason = reason
      return
    }
    const { clock, log } = this.#deps
    const released = Promise.withResolvers<void>()
    const hold: Hold = { destination, reason, since: clock.now(), released, cancel: () => undefined }
    this.#holds.set(key, hold)
    log.warn({ destination, reason }, 'nothing can be delivered there; messages wait')
    this.#scheduleProbe(key, hold, probe)
  }

  /** The configuration changed: everything is worth a try. */
  releaseAll(): void {
    for (const key of [...this.#holds.keys()]) this.release(key)
  }

  release(key: string): void {
    const hold = this.#holds.get(key)
    if (!hold) return
    hold.cancel()
    this.#holds.delete(key)
    hold.released.resolve()
  }

  #scheduleProbe(key: string, hold: Hold, probe: () => Promise<void>): void {
    const { clock, log } = this.#deps
    const { destination } = hold
    hold.cancel = clock.after(probeMs, () => {
      probe().then(
        () => {
          if (this.#holds.get(key) !== hold) return
          log.info({ destination, held_ms: clock.now() - hold.since }, 'deliveries go on')
          this.release(key)
        },
        (error: unknown) => {
          if (this.#holds.get(key) !== hold) return
          hold.reason = error instanceof Error ? error.message : String(error)
          this.#scheduleProbe(key, hold, probe)
        },
      )
    })
  }
}
