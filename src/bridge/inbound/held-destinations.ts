// Destinations that take nothing at the moment: whoever wants to deliver there waits, somebody asks now and then whether
// it works again, and the operator hears of it once.
//
// open  → held when a delivery finds the destination itself broken
// held  → open when a probe succeeds, the configuration changes, or nobody waits for it any more

import type { PerInstance } from '../../core/per-instance.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'

type Deps = { clock: Clock; log: Log }
type Hold = {
  destination: string
  reason: string
  since: number
  /** The instances that wait. */
  waiting: Set<string>
  released: PromiseWithResolvers<Release>
  cancel: () => void
}

/** Why one need not wait any more: a probe succeeded, or there is something else to try. */
export type Release = 'works' | 'changed'

export type HoldRequest = {
  /** The destination and who asks there. */
  key: string
  destination: string
  instance: string
  reason: string
  /** Resolves when it works again. */
  probe: () => Promise<void>
}

export type HeldDestination = { destination: string; reason: string; since: number }

const probeMs = 30_000

export class HeldDestinations implements PerInstance {
  readonly #deps: Deps
  readonly #held = new Map<string, Hold>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  list(): HeldDestination[] {
    return [...this.#held.values()].map(({ destination, reason, since }) => ({ destination, reason, since }))
  }

  /** Resolves when nothing is known against it any more; undefined when that is so already. */
  waitFor(key: string, instance: string): Promise<Release> | undefined {
    const hold = this.#held.get(key)
    hold?.waiting.add(instance)
    return hold?.released.promise
  }

  hold({ key, destination, instance, reason, probe }: HoldRequest): void {
    const known = this.#held.get(key)
    if (known) {
      known.reason = reason
      known.waiting.add(instance)
      return
    }
    const { clock, log } = this.#deps
    const released = Promise.withResolvers<Release>()
    const waiting = new Set([instance])
    const hold: Hold = { destination, reason, since: clock.now(), waiting, released, cancel: () => undefined }
    this.#held.set(key, hold)
    log.warn({ destination, reason }, 'nothing can be delivered there; messages wait')
    this.#scheduleProbe(key, hold, probe)
  }

  /** The instance is gone: what only it has waited for is nobody's business any more. */
  leave(instance: string): void {
    for (const [key, { waiting }] of [...this.#held]) {
      if (waiting.delete(instance) && waiting.size === 0) this.release(key)
    }
  }

  /** The configuration changed: everything is worth a try. */
  releaseAll(): void {
    for (const key of [...this.#held.keys()]) this.release(key)
  }

  release(key: string, why: Release = 'changed'): void {
    const hold = this.#held.get(key)
    if (!hold) return
    hold.cancel()
    this.#held.delete(key)
    hold.released.resolve(why)
  }

  #scheduleProbe(key: string, hold: Hold, probe: () => Promise<void>): void {
    const { clock, log } = this.#deps
    const { destination } = hold
    hold.cancel = clock.after(probeMs, () => {
      probe().then(
        () => {
          if (this.#held.get(key) !== hold) return
          log.info({ destination, held_ms: clock.now() - hold.since }, 'deliveries go on')
          this.release(key, 'works')
        },
        (error: unknown) => {
          if (this.#held.get(key) !== hold) return
          hold.reason = error instanceof Error ? error.message : String(error)
          this.#scheduleProbe(key, hold, probe)
        },
      )
    })
  }
}
