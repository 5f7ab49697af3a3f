// A clock that runs like the one on the wall and can be pushed forward, for long outages between parts that are real.

import { ShiftableClock } from '../../sim/shiftable-clock.ts'
import type { Clock } from '../../src/lib/clock.ts'

export class LeapingClock extends ShiftableClock implements Clock {
  readonly #startedAt = this.now()

  monotonic(): number {
    return this.now() - this.#startedAt
  }
}
