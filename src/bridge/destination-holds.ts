// Destinations that take nothing at the moment: whoever wants to deliver there waits, somebody asks now and then whether
// it works again, and the operator hears of it once.
//
// open  → held when a delivery finds the destination itself broken
// held  → open when a probe succeeds or the configuration changes

import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

type Deps = { clock: Clock; log: Log }
type Hold = { reason: string; since: number; released: PromiseWithResolvers<void>; cancel: () => void }

export type HeldDestination = { destination: string; reason: string; since: number }

const probeMs = 30_000

export class DestinationHolds {
  readonly #deps: Deps
  readonly #holds = new Map<string, Hold>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  list(): HeldDestination[] {
    return [...this.#holds].map(([destination, { reason, since }]) => ({ destination, reason, since }))
  }

  /** Resolves when nothing is known against this destination; undefined when that is so already. */
  waitFor(destination: string): Promise<void> | undefined {
    return this.#holds.get(destination)?.released.promise
  }

  /** Holds the destination until `probe` resolves. */
  hold(destination: string, reason: string, probe: () => Promise<void>): void {
    const known = this.#holds.get(destination)
    if (known) {
      known.reason = reason
      return
    }
    const { clock, log } = this.#deps
    const hold: Hold = { reason, since: clock.now(), released: Promise.withResolvers(), cancel: () => undefined }
    this.#holds.set(destination, hold)
    log.warn({ destination, reason }, 'nothing can be delivered there; messages wait')
    this.#scheduleProbe(destination, hold, probe)
  }

  /** The configuration changed: everything is worth a try. */
  releaseAll(): void {
    for (const destination of [...this.#holds.keys()]) this.release(destination)
  }

  release(destination: string): void {
    const hold = this.#holds.get(destination)
    if (!hold) return
    hold.cancel()
    this.#holds.delete(destination)
    hold.released.resolve()
  }

  #scheduleProbe(destination: string, hold: Hold, probe: () => Promise<void>): void {
    const { clock, log } = this.#deps
    hold.cancel = clock.after(probeMs, () => {
      probe().then(
        () => {
          if (this.#holds.get(destination) !== hold) return
          log.info({ destination, held_ms: clock.now() - hold.since }, 'deliveries go on')
          this.release(destination)
        },
        (error: unknown) => {
          if (this.#holds.get(destination) !== hold) return
          hold.reason = error instanceof Error ? error.message : String(error)
          this.#scheduleProbe(destination, hold, probe)
        },
      )
    })
  }
}
