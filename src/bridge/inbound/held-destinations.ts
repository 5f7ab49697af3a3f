// Knows the destinations that take nothing at the moment. Deliveries to a held destination wait, probes ask whether the
// destination works again, and one log line tells the operator.
//
// open → held  when a delivery finds the destination itself broken
// held → open  when a probe succeeds, the configuration changes, or no instance waits for it any more

import type { InstanceName } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { doubledMs } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'

type Deps = {
  clock: Clock
  log: Log
  /** Called with a destination, as operators see it, that is held, is held for another reason, or is open again. */
  onChanged?: ((destination: string) => void) | undefined
}
type Held = {
  destination: string
  reason: string
  since: number
  waiting: Set<InstanceName>
  released: PromiseWithResolvers<Release>
  cancel: () => void
}

/** Why a destination is open again: a probe succeeded, or the configuration or the instances changed. */
type Release = 'works' | 'changed'

type HoldRequest = {
  /** The destination and the token that is used there. */
  key: string
  /** As operators see it. */
  destination: string
  instance: InstanceName
  reason: string
  /** Resolves when the destination works again. */
  probe: () => Promise<void>
}

type HeldDestination = { destination: string; reason: string; since: number }

/** A helpdesk that was only restarted is soon back, so the first probes come soon. */
const pauses = { firstMs: 1000, ceilingMs: 30_000 }

export class HeldDestinations implements PerInstance {
  readonly #deps: Deps
  readonly #held = new Map<string, Held>()
  #isOver = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  list(): HeldDestination[] {
    return [...this.#held.values()].map(({ destination, reason, since }) => ({ destination, reason, since }))
  }

  /** Resolves when the destination is open again; undefined when it is not held. */
  waitFor(key: string, instance: InstanceName): Promise<Release> | undefined {
    const held = this.#held.get(key)
    held?.waiting.add(instance)
    return held?.released.promise
  }

  hold({ key, destination, instance, reason, probe }: HoldRequest): void {
    const known = this.#held.get(key)
    if (known) {
      known.waiting.add(instance)
      this.#explain(known, reason)
      return
    }
    const { clock, log, onChanged } = this.#deps
    const released = Promise.withResolvers<Release>()
    const waiting = new Set([instance])
    const held: Held = { destination, reason, since: clock.now(), waiting, released, cancel: () => undefined }
    this.#held.set(key, held)
    log.warn({ destination, reason }, 'nothing can be delivered there; messages wait')
    onChanged?.(destination)
    if (!this.#isOver) this.#scheduleProbe(key, held, probe)
  }

  /** Ends all probes. A delivery that ends late may still hold its destination. */
  [Symbol.dispose](): void {
    this.#isOver = true
    this.releaseAll()
  }

  /** A destination for which only this instance waits needs no probes any more. */
  leave(instance: InstanceName): void {
    for (const [key, { waiting }] of [...this.#held]) {
      if (waiting.delete(instance) && waiting.size === 0) this.release(key)
    }
  }

  /** The configuration changed, so every destination is tried again. */
  releaseAll(): void {
    for (const key of [...this.#held.keys()]) this.release(key)
  }

  release(key: string, why: Release = 'changed'): void {
    const held = this.#held.get(key)
    if (!held) return
    held.cancel()
    this.#held.delete(key)
    held.released.resolve(why)
    this.#deps.onChanged?.(held.destination)
  }

  #explain(held: Held, reason: string): void {
    if (held.reason === reason) return
    held.reason = reason
    this.#deps.onChanged?.(held.destination)
  }

  #scheduleProbe(key: string, held: Held, probe: () => Promise<void>, failures = 0): void {
    const { clock, log } = this.#deps
    const { destination } = held
    held.cancel = clock.after(doubledMs(failures, pauses), () => {
      probe().then(
        () => {
          if (this.#held.get(key) !== held) return
          log.info({ destination, held_ms: clock.now() - held.since }, 'deliveries go on')
          this.release(key, 'works')
        },
        (error: unknown) => {
          if (this.#held.get(key) !== held) return
          this.#explain(held, error instanceof Error ? error.message : String(error))
          this.#scheduleProbe(key, held, probe, failures + 1)
        },
      )
    })
  }
}
