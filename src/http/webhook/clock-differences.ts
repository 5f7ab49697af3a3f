// Knows the instances whose callbacks are signed correctly and refused because of their timestamp: the clock of the helpdesk
// and ours differ. Without that, the operator would look for a wrong secret.
//
// agreed   → differing  when a callback has the right signature and a timestamp that is too far from our clock
// differing → agreed    when a callback is accepted, or when none was refused for a day

import type { InstanceName } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { curesOfRefusals, sentencesOfRefusals } from './refusal-sentences.ts'

type Deps = { clock: Clock; log: Log }
/** `aheadMs` is how far the clock of the helpdesk is ahead of ours; negative when it is behind. */
type Difference = { aheadMs: number; since: number; refusedAt: number }
type ShownDifference = { instance: InstanceName; aheadMs: number; sentence: string; cure: string; since: number }

const dayMs = 24 * 3_600_000

export class ClockDifferences implements PerInstance {
  readonly #deps: Deps
  readonly #differing = new Map<InstanceName, Difference>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  list(): ShownDifference[] {
    const oldest = this.#deps.clock.now() - dayMs
    for (const [name, { refusedAt }] of this.#differing) if (refusedAt < oldest) this.#differing.delete(name)
    const sentence = sentencesOfRefusals.clock_differs
    return [...this.#differing].map(([instance, { aheadMs, since }]) => {
      return { instance, aheadMs, sentence, cure: curesOfRefusals.clock_differs(instance), since }
    })
  }

  /** A callback was refused because of its timestamp. */
  refused(instance: InstanceName, aheadMs: number): void {
    const { clock, log } = this.#deps
    const now = clock.now()
    const known = this.#differing.get(instance)
    this.#differing.set(instance, { aheadMs, since: known?.since ?? now, refusedAt: now })
    if (known) return
    const seconds = Math.round(aheadMs / 1000)
    log.warn(
      { instance, helpdesk_ahead_seconds: seconds, cure: curesOfRefusals.clock_differs(instance) },
      'the clock of the helpdesk differs from ours: callbacks are refused',
    )
  }

  /** A callback was accepted. */
  agreed(instance: InstanceName): void {
    if (this.#differing.delete(instance))
      this.#deps.log.info({ instance }, 'the clock of the helpdesk agrees with ours again')
  }

  leave(instance: InstanceName): void {
    this.#differing.delete(instance)
  }
}
