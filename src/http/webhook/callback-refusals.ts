// Knows which callbacks are refused and why, so that an operator learns of it: the agents' messages do not reach the customers.
//
// accepted → refused  when a callback is refused
// refused → accepted  when a callback of the instance is accepted, or when none was refused for a day. The refusals of an
//                     unknown name end when an instance accepts a callback of the helpdesk inbox that used the name.
//
// Any caller can call the webhook with any name, so what is kept and logged of unknown names is limited. Health shows a
// refusal only if the caller has proved to be the helpdesk, or names an instance that exists.

import type { InstanceName } from '../../core/ids.ts'
import { instanceNamePattern } from '../../core/instance.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import type { Log } from '../../lib/log.ts'
import { curesOfRefusals, sentencesOfRefusals } from './refusal-sentences.ts'
import type { RefusalReason } from './refusal-sentences.ts'

type Deps = { count: (reason: RefusalReason) => void; clock: Clock; log: Log }
/** `isKnown`: the instance exists. `isProved`: the caller is the helpdesk. `inbox` is the helpdesk inbox, where it matters. */
export type Caller = { instance: InstanceName; isKnown: boolean; isProved: boolean; inbox?: string | undefined }
type Refusal = { sentence: string; count: number; since: number; refusedAt: number }
export type RefusedCallbacks = {
  instance: InstanceName
  reason: RefusalReason
  sentence: string
  cure: string
  count: number
  since: number
}

const dayMs = 24 * 3_600_000
/** How long the same warning is not repeated. */
const warnedMs = 3_600_000
const maxWarned = 1000
/** How many unknown names the log names in an hour, and how many health names. */
const maxUnknown = 10
const validName = new RegExp(instanceNamePattern)

export class CallbackRefusals implements PerInstance {
  readonly #deps: Deps
  readonly #refused = new Map<InstanceName, Map<RefusalReason, Refusal>>()
  /** The helpdesk inbox that calls each unknown name. */
  readonly #unknown = new Map<InstanceName, string | undefined>()
  readonly #warned: BoundedMap<true>
  readonly #warnedUnknown: BoundedMap<number>

  constructor(deps: Deps) {
    const { clock } = deps
    this.#deps = deps
    this.#warned = new BoundedMap({ clock, max: maxWarned, ttlMs: warnedMs })
    this.#warnedUnknown = new BoundedMap({ clock, max: 1, ttlMs: warnedMs })
  }

  list(): RefusedCallbacks[] {
    this.#forgetOld()
    return [...this.#refused].flatMap(([instance, reasons]) =>
      [...reasons].map(([reason, { sentence, count, since }]) => {
        return { instance, reason, sentence, cure: curesOfRefusals[reason](instance), count, since }
      }),
    )
  }

  /** `sentence` says more than the reason where more is known. */
  refused(from: Caller, reason: RefusalReason, sentence = sentencesOfRefusals[reason]): void {
    // A stranger may put any text in the place of the name.
    const caller = validName.test(from.instance) ? from : { ...from, instance: 'no valid name' }
    this.#deps.count(reason)
    // The clocks have an entry and a warning of their own.
    if (reason === 'clock_differs') return
    if (this.#isShown(caller, reason)) this.#show(caller, reason, sentence)
    this.#warn(caller, reason, sentence)
  }

  /** A callback was accepted. `inbox` is given if it is certain that the callback is of the helpdesk inbox of the instance. */
  accepted(instance: InstanceName, inbox?: string): void {
    this.#end(instance, inbox !== undefined)
    if (inbox === undefined) return
    for (const [name, caller] of this.#unknown) if (caller === inbox) this.#end(name, true)
  }

  leave(instance: InstanceName): void {
    this.#forget(instance)
    this.#warned.deleteWhere((key) => key.startsWith(`${instance} `))
  }

  #end(instance: InstanceName, isOfInbox: boolean): void {
    const reasons = this.#refused.get(instance)
    const otherInbox = isOfInbox ? undefined : reasons?.get('other_inbox')
    if (!reasons || (otherInbox && reasons.size === 1)) return
    this.#forget(instance)
    if (otherInbox) this.#refused.set(instance, new Map([['other_inbox', otherInbox]]))
    this.#deps.log.info({ instance }, 'callbacks are accepted again')
  }

  /** Whether an operator can trust that the helpdesk, and not a stranger, has this problem. */
  #isShown({ instance, isKnown, isProved }: Caller, reason: RefusalReason): boolean {
    if (!isKnown) return isProved && (this.#unknown.has(instance) || this.#unknown.size < maxUnknown)
    return isProved || reason === 'not_signed' || reason === 'wrong_signature' || reason === 'other_inbox'
  }

  #show({ instance, isKnown, inbox }: Caller, reason: RefusalReason, sentence: string): void {
    const now = this.#deps.clock.now()
    if (!isKnown) this.#unknown.set(instance, inbox ?? this.#unknown.get(instance))
    const reasons = getOrCreate(this.#refused, instance, () => new Map<RefusalReason, Refusal>())
    const known = reasons.get(reason)
    reasons.set(reason, { sentence, count: (known?.count ?? 0) + 1, since: known?.since ?? now, refusedAt: now })
  }

  #warn({ instance, isKnown }: Caller, reason: RefusalReason, sentence: string): void {
    const key = `${instance} ${reason}`
    if (this.#warned.has(key) || (!isKnown && !this.#mayWarnOfUnknown())) return
    this.#warned.set(key, true)
    const cure = curesOfRefusals[reason](instance)
    this.#deps.log.warn({ instance, reason, sentence, cure }, 'callbacks are refused')
  }

  /** After ten warnings there is none for an hour. */
  #mayWarnOfUnknown(): boolean {
    const warnings = this.#warnedUnknown.get('') ?? 0
    if (warnings >= maxUnknown) return false
    this.#warnedUnknown.set('', warnings + 1)
    return true
  }

  #forgetOld(): void {
    const oldest = this.#deps.clock.now() - dayMs
    for (const [instance, reasons] of this.#refused) {
      for (const [reason, { refusedAt }] of reasons) if (refusedAt < oldest) reasons.delete(reason)
      if (reasons.size === 0) this.#forget(instance)
    }
  }

  #forget(instance: InstanceName): void {
    this.#refused.delete(instance)
    this.#unknown.delete(instance)
  }
}
