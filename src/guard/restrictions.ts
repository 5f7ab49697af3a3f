// Remembers which accounts the network has restricted to people who wrote to them, also across restarts.
//
// The network refuses a first message with the same code for several reasons. Only when the network confirms that the account
// is restricted, the refusal is a strike and other first messages are stopped until the restriction ends. While the network does
// not answer, they are stopped for some minutes, because more of them would harm an account that is restricted.

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
  store: Pick<RestrictionStore, 'find' | 'save' | 'remove'>
  clock: Pick<Clock, 'now'>
  /** Null when the network cannot be asked. */
  askNetwork: (instance: InstanceName) => Promise<NetworkRestriction | null>
}

/** `strike`: restricted, and the first refusal for an hour. `not_restricted`: the network does not confirm a restriction. */
type RefusalMeaning = 'strike' | 'restricted' | 'not_restricted'

/** One question for all messages that are refused at the same time. */
type Question = { answer: Promise<NetworkRestriction | null>; isOver: boolean }

export class Restrictions implements PerInstance {
  readonly #deps: Deps
  readonly #known = new Map<InstanceName, Restriction>()
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
    const question = this.#questions.get(instance)
    if (question) question.isOver = true
    this.#questions.delete(instance)
  }

  /** When the restriction in force ends; undefined without one. */
  until(instance: InstanceName): number | undefined {
    const until = this.#known.get(instance)?.until ?? 0
    return until > this.#deps.clock.now() ? until : undefined
  }

  /**
   * The network refused a first message. Asks the network whether the account is restricted, and until when. Without a named
   * end the restriction lasts an hour.
   */
  async record(instance: InstanceName): Promise<RefusalMeaning> {
    const question = getOrCreate(this.#questions, instance, () => this.#ask(instance))
    const said = await question.answer
    if (question.isOver) return 'not_restricted'
    if (said?.isActive) return this.#restrict(instance, said.until)
    const isKnown = this.until(instance) !== undefined
    if (!said && isKnown) return 'restricted'
    if (!said) await this.#stopForMinutes(instance)
    else if (isKnown) await this.#lift(instance)
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
  async #stopForMinutes(instance: InstanceName): Promise<void> {
    const { struckAt = 0 } = this.#known.get(instance) ?? {}
    await this.#keep(instance, { until: this.#deps.clock.now() + unansweredMs, struckAt })
  }

  /** The network says that the restriction is over. */
  async #lift(instance: InstanceName): Promise<void> {
    const known = this.#known.get(instance)
    if (known) await this.#keep(instance, { ...known, until: this.#deps.clock.now() })
  }

  async #keep(instance: InstanceName, restriction: Restriction): Promise<void> {
    this.#known.set(instance, restriction)
    await this.#deps.store.save(instance, restriction)
  }

  /** The instance is deleted. */
  async forget(instance: InstanceName): Promise<void> {
    this.leave(instance)
    await this.#deps.store.remove(instance)
  }
}
