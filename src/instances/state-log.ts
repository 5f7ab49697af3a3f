// Logs every change of the state of one account, one line with the reason, and passes it on.

import type { InstanceName } from '../core/ids.ts'
import { reasonOfTrigger } from '../core/instance.ts'
import type { InstanceState, InstanceTrigger } from '../core/instance.ts'
import { lastErrorCodeOf } from '../core/last-error.ts'
import type { Closing } from '../core/network/closing.ts'
import type { Log } from '../lib/log.ts'

type Change = { instance: InstanceName; from: InstanceState; to: InstanceState; trigger: InstanceTrigger }
/** The failure, or the sentence, that is the reason of a change. Without one, the trigger is the reason. */
export type Why = Closing | string

const attempts: ReadonlySet<InstanceTrigger> = new Set(['attempt', 'dropped'])

type SeenState = {
  instance: InstanceName
  state: InstanceState
  reason: string
  /** One more attempt of an account that fails again and again for the same reason. */
  isRepeated: boolean
}
/** Hears of every change. */
export type StateListener = (seen: SeenState) => void

/** More than an account has in one outage. */
const maxReasons = 20

export class StateLog {
  readonly #log: Log
  readonly #listener: StateListener | undefined
  /** Why attempts have failed since a connection worked. */
  readonly #reasons = new Set<string>()
  /** The account fails again and again for the same reasons. */
  #isRepeating = false

  constructor(log: Log, listener?: StateListener) {
    this.#log = log
    this.#listener = listener
  }

  /** The connection ended, before it worked or later. */
  dropped({ reason }: Closing, hadWorked: boolean): void {
    this.#isRepeating = !hadWorked && this.#reasons.has(reason)
    if (hadWorked) this.#reasons.clear()
    else if (this.#reasons.size < maxReasons) this.#reasons.add(reason)
  }

  /** Many accounts that try again and again would fill the log, so repeated failures are logged at debug. */
  changed(change: Change, why: Why | undefined): void {
    const { instance, from, to, trigger } = change
    const reasons = factsOf(trigger, why)
    const facts = { ...change, ...reasons }
    const isRepeated = attempts.has(trigger) && this.#isRepeating
    this.#listener?.({ instance, state: to, reason: reasons.reason, isRepeated })
    if (to === 'logged_out') this.#log.warn(facts, 'instance state changed')
    else if (from === to || isRepeated) {
      this.#log.debug(facts, 'instance state changed')
    } else this.#log.info(facts, 'instance state changed')
  }
}

function factsOf(trigger: InstanceTrigger, why: Why | undefined): { reason: string } {
  if (typeof why !== 'object') return { reason: why ?? reasonOfTrigger[trigger] }
  const codes = { code: why.code, error_code: lastErrorCodeOf(why) }
  return { reason: why.reason, ...codes }
}
