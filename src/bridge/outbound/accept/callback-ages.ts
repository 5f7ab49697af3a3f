// Says how old a callback and its message are when we read the callback. The clocks of the helpdesk and of this service
// differ, so a time is compared with the usual difference between the two.

import type { DestinationKey } from '../../../core/ids.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import { UsualDifference } from '../../../lib/usual-difference.ts'

/** Null when the helpdesk does not say. */
export type CallbackAge = { sentMsAgo: number | null; writtenMsAgo: number | null }

/** Times by the clock of the helpdesk. */
type CallbackTimes = { sentAt: number | null; writtenAt: number | null }

type Differences = {
  sent: UsualDifference
  written: UsualDifference
  /** Since when every callback is too old; null while the last one was not. */
  oldSince: number | null
}

type Deps = {
  /** From this age on, the helpdesk has given up on a callback. */
  maxAgeMs: number
  clock: Clock
}

const maxInboxes = 10_000
const keptMs = 7 * 24 * 3_600_000
// A queue in the socket is read within seconds. When all callbacks look old for longer, a clock was set.
const clockWasSetMs = 60_000

export class CallbackAges {
  readonly #deps: Deps
  readonly #differences: BoundedMap<Differences>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#differences = new BoundedMap({ clock: deps.clock, max: maxInboxes, ttlMs: keptMs })
  }

  /** Also remembers the differences, for the callbacks that follow. */
  ageOf(inbox: DestinationKey, { sentAt, writtenAt }: CallbackTimes): CallbackAge {
    const now = this.#deps.clock.now()
    const differences = this.#differencesOf(inbox)
    const { sent, written } = differences
    const sentMsAgo = sentAt === null ? null : this.#sinceSent(differences, now - sentAt)
    if (writtenAt === null) return { sentMsAgo, writtenMsAgo: null }
    // Without a callback to compare with, the clocks are taken to be the same.
    const usual = Math.min(sent.smallest ?? Infinity, written.smallest ?? Infinity)
    const writtenMsAgo = now - writtenAt - (usual === Infinity ? 0 : usual)
    written.add(now - writtenAt)
    return { sentMsAgo, writtenMsAgo }
  }

  /** A callback that is too old says nothing about the clocks: a frozen process reads many of them at once. */
  #sinceSent(differences: Differences, difference: number): number {
    const { maxAgeMs, clock } = this.#deps
    const { sent } = differences
    const age = difference - (sent.smallest ?? difference)
    if (age <= maxAgeMs) differences.oldSince = null
    else differences.oldSince ??= clock.monotonic()
    const wasSet = differences.oldSince !== null && clock.monotonic() - differences.oldSince > clockWasSetMs
    if (age > maxAgeMs && !wasSet) return age
    if (wasSet) {
      sent.clear()
      differences.written.clear()
      differences.oldSince = null
    }
    sent.add(difference)
    return difference - (sent.smallest ?? difference)
  }

  #differencesOf(inbox: DestinationKey): Differences {
    const known = this.#differences.get(inbox)
    const differences = known ?? { sent: new UsualDifference(), written: new UsualDifference(), oldSince: null }
    // The inboxes that are used least are forgotten first.
    this.#differences.set(inbox, differences)
    return differences
  }
}
