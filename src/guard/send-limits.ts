// Says how many messages per minute an instance may send: its own limit or the limit of the service, and less while its
// number is new. A number that writes much in its first days looks like a machine, and gets banned.

import type { InstanceName } from '../core/ids.ts'
import type { Clock } from '../lib/clock.ts'
import type { InstanceRow } from '../storage/stores/accounts/instance-rows.ts'

const dayMs = 86_400_000
/** The warm-up of a number without a limit leads up to this. */
const unlimitedPerMinute = 30

/** Messages per minute; 0 is no limit. */
export type SendLimit = { perMinute: number; warmup: Warmup | null }
/** `day` is 1 on the first day. */
export type Warmup = { day: number; days: number }

type Limited = Pick<InstanceRow, 'outgoingRateLimit' | 'linkedAt'>

type Deps = {
  /** The limit of the service; 0 is no limit. */
  perMinute: number
  /** How many days the warm-up of a number takes; 0 is no warm-up. */
  warmupDays: number
  recordOf: (instance: InstanceName) => Readonly<Limited> | undefined
  clock: Pick<Clock, 'now'>
}

export class SendLimits {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  of(instance: InstanceName): SendLimit {
    const { recordOf, clock } = this.#deps
    return sendLimitOf(recordOf(instance), this.#deps, clock.now())
  }
}

/** On day `d` of `n`, a number may send 0.2 + 0.8·d/n of its limit. On the last day this is the whole limit. */
function sendLimitOf(
  record: Readonly<Limited> | undefined,
  { perMinute: ofService, warmupDays: days }: Pick<Deps, 'perMinute' | 'warmupDays'>,
  now: number,
): SendLimit {
  const perMinute = record?.outgoingRateLimit ?? ofService
  const linkedAt = record?.linkedAt ?? null
  // A time in the future was stored before the clock was put back.
  const day = linkedAt === null ? Infinity : Math.max(0, Math.floor((now - linkedAt) / dayMs)) + 1
  if (day > days) return { perMinute, warmup: null }
  const full = perMinute === 0 ? unlimitedPerMinute : perMinute
  // In whole numbers, because a fraction could fall just below one.
  const reduced = Math.floor((full * (days + 4 * day)) / (5 * days))
  return { perMinute: Math.max(1, reduced), warmup: { day, days } }
}
