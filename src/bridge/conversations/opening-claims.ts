// Lets one account at a time open a conversation with a contact, also when the accounts are in several processes.
//
// free    → claimed by an account: it searches, and creates a conversation if there is none
// claimed → free when the conversation is stored, or when certainly none was created
// claimed → uncertain when the answer of the helpdesk is lost, or the process dies: the account itself only searches
// uncertain → claimed anew when the claim has not changed for as long as the helpdesk may still create the conversation
//
// That time is measured here, from when this process saw the claim first. The clocks of two machines may differ.

import { DownstreamError } from '../../core/downstream.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { OpeningClaim, OpeningPlace, OpeningStore } from '../../storage/stores/people/opening-store.ts'

type Deps = {
  openings: Pick<OpeningStore, 'find' | 'claim' | 'release'>
  holdOf: HoldOf
  clock: Clock
  /** How long after a lost answer the helpdesk may still create the conversation. */
  lateCommitMs: number
}

type SeenClaim = OpeningClaim & { at: number }

/** An opening takes some requests to the helpdesk. After a longer wait the message is tried again later. */
const longestWaitMs = 1500
const lookEveryMs = 100
const nextAttemptMs = 2000
const watched = { max: 10_000, ttlMs: 3_600_000 }

export class OpeningClaims {
  readonly #deps: Deps
  readonly #seen: BoundedMap<SeenClaim>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#seen = new BoundedMap({ clock: deps.clock, ...watched })
  }

  /**
   * Runs the work while no other account opens a conversation with the contact. The work stores the conversation, which ends the
   * claim, or resolves with null. It awaits `begin` right before it creates one; `begin` rejects when none may be created now.
   */
  async run<T>(place: OpeningPlace, work: (begin: () => Promise<void>) => Promise<T>): Promise<T> {
    let claim = await this.#claimInTime(place)
    if (!claim) return work(() => Promise.reject(refusal('a conversation was being opened a moment ago')))
    const creation = { isBegun: false }
    const begin = async () => {
      // The searches may have taken so long that another account has taken the claim. And the time counts from the creation.
      claim = await this.#claim(place, claim)
      if (!claim) throw refusal('another account has begun to open a conversation with the contact')
      creation.isBegun = true
    }
    try {
      const done = await work(begin)
      if (done === null) await this.#release(place)
      return done
    } catch (error) {
      const isRefused = error instanceof DownstreamError && !error.mayHaveHappened
      if (!creation.isBegun || isRefused) await this.#release(place)
      throw error
    }
  }

  async #release(place: OpeningPlace): Promise<void> {
    await this.#deps.openings.release(this.#deps.holdOf(place.instance), place)
  }

  /** Null when the account itself was opening a conversation, and the outcome is unknown. */
  async #claimInTime(place: OpeningPlace): Promise<OpeningClaim | null> {
    const { openings, clock } = this.#deps
    const until = clock.monotonic() + longestWaitMs
    for (;;) {
      const seen = await openings.find(place)
      const isFree = !seen || this.#isOver(place, seen)
      if (!isFree && seen.by === place.instance) return null
      const claim = isFree ? await this.#claim(place, seen) : null
      if (claim) return claim
      if (clock.monotonic() >= until) throw refusal('another account opens a conversation with the contact')
      await sleep(clock, lookEveryMs)
    }
  }

  /** Null when another claim is stored by now. */
  async #claim(place: OpeningPlace, seen: OpeningClaim | null): Promise<OpeningClaim | null> {
    const { openings, holdOf, clock } = this.#deps
    const claim = { since: clock.now(), by: place.instance }
    const at = clock.monotonic()
    if (!(await openings.claim(holdOf(place.instance), place, seen, claim.since))) return null
    this.#seen.set(keyOf(place), { ...claim, at })
    return claim
  }

  #isOver(place: OpeningPlace, { since, by }: OpeningClaim): boolean {
    const { clock, lateCommitMs } = this.#deps
    const now = clock.monotonic()
    const before = this.#seen.get(keyOf(place))
    const isSame = before?.since === since && before.by === by
    if (!isSame) this.#seen.set(keyOf(place), { since, by, at: now })
    return now - (isSame ? before.at : now) >= lateCommitMs
  }
}

function keyOf({ destination, sourceId }: OpeningPlace): string {
  return `${destination}|${sourceId}`
}

function refusal(what: string): DownstreamError {
  const reason = `${what}: looking for it before opening another one`
  return new DownstreamError('transient', reason, { retryAfterMs: nextAttemptMs })
}
