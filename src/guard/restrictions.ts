// Remembers which accounts the network has restricted to people who wrote to them, also across restarts.
//
// The network refuses a first message with the same code for several reasons. Only when the network confirms that the account
// is restricted, the refusal is a strike and other first messages are stopped until the restriction ends. If the network does
// not answer, they are stopped for some minutes, because more of them would harm an account that is restricted. Such a pause
// is not stored: after a restart one more message asks the network again.

import type { InstanceName } from '../core/ids.ts'
import type { NetworkRestriction } from '../core/network.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { Clock } from '../lib/clock.ts'
import { getOrCreate } from '../lib/keyed.ts'
import type { Restriction, RestrictionStore } from '../storage/stores/accounts/restriction-store.ts'

const hour = 3_600_000
const unansweredMs = 10 * 60_000
/** A later end is not believed: a wrong number must not stop an account for ever. */
const maxRestrictionMs = 7 * 24 * hour

type Deps = {
  store: Pick<RestrictionStore, 'find' | 'save'>
  clock: Pick<Clock, 'now' | 'monotonic'>
  /** Null when the network cannot be asked. */
  askNetwork: (instance: InstanceName) => Promise<NetworkRestriction | null>
}

/** `strike`: restricted, and the first refusal for an hour. `not_restricted`: the network does not confirm a restriction. */
type RefusalMeaning = 'strike' | 'restricted' | 'not_restricted'

/** Why an account may not write first, and until when. Not confirmed: the network did not say whether it restricts the account. */
export type FirstMessageStop = { until: number; isConfirmed: boolean }

/** One question for all messages that are refused at the same time. */
type Question = { answer: Promise<NetworkRestriction | null>; isOver: boolean }

export class Restrictions implements PerInstance {
  readonly #deps: Deps
  readonly #known = new Map<InstanceName, Restriction>()
  /** Until when the account does not write first, because the network did not answer; on the monotonic scale. */
  readonly #pausedUntil = new Map<InstanceName, number>()
  readonly #questions = new Map<InstanceName, Question>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async take(instance: InstanceName): Promise<void> {
    const stored = await this.#deps.store.find(instance)
    if (stored) this.#known.set(instance, stored)
  }

  leave(instance: InstanceName): void {
    this.#known.delete(instance)
    this.#pausedUntil.delete(instance)
    const question = this.#questions.get(instance)
    if (question) question.isOver = true
    this.#questions.delete(instance)
  }

  /** Undefined when the account may write first. */
  stopOf(instance: InstanceName): FirstMessageStop | undefined {
    const { clock } = this.#deps
    const now = clock.now()
    const { until = 0 } = this.#known.get(instance) ?? {}
    if (until > now) return { until, isConfirmed: true }
    const pauseMs = (this.#pausedUntil.get(instance) ?? 0) - clock.monotonic()
    return pauseMs > 0 ? { until: now + pauseMs, isConfirmed: false } : undefined
  }

  /**
   * The network refused a first message. Asks the network whether the account is restricted, and until when. Without a named
   * end the restriction lasts an hour.
   */
  async record(instance: InstanceName): Promise<RefusalMeaning> {
    const question = getOrCreate(this.#questions, instance, () => this.#ask(instance))
    const said = await question.answer
    if (question.isOver) return 'not_restricted'
    if (!said) return this.#pause(instance)
    this.#pausedUntil.delete(instance)
    if (said.isActive) return this.#restrict(instance, said.until)
    await this.#lift(instance)
    return 'not_restricted'
  }

  #ask(instance: InstanceName): Question {
    const answer = this.#deps.askNetwork(instance).catch(() => null)
    const question: Question = { answer, isOver: false }
    void answer.then(() => {
      if (!question.isOver) this.#questions.delete(instance)
    })
    return question
  }

  async #restrict(instance: InstanceName, said: number | null): Promise<RefusalMeaning> {
    const now = this.#deps.clock.now()
    const { until: known = 0, struckAt = 0 } = this.#known.get(instance) ?? {}
    const isNamed = said !== null && said > now
    const until = isNamed ? Math.min(said, now + maxRestrictionMs) : Math.max(known, now + hour)
    // A time in the future was stored before the clock was put back.
    const strikes = struckAt > now || now - struckAt >= hour
    await this.#keep(instance, { until, struckAt: strikes ? now : struckAt })
    return strikes ? 'strike' : 'restricted'
  }

  /** The network does not say whether the account is restricted. */
  #pause(instance: InstanceName): RefusalMeaning {
    if (this.stopOf(instance)?.isConfirmed === true) return 'restricted'
    this.#pausedUntil.set(instance, this.#deps.clock.monotonic() + unansweredMs)
    return 'not_restricted'
  }

  /** The network says that there is no restriction. */
  async #lift(instance: InstanceName): Promise<void> {
    const known = this.#known.get(instance)
    const now = this.#deps.clock.now()
    if (known && known.until > now) await this.#keep(instance, { ...known, until: now })
  }

  async #keep(instance: InstanceName, restriction: Restriction): Promise<void> {
    this.#known.set(instance, restriction)
    await this.#deps.store.save(instance, restriction)
  }
}
