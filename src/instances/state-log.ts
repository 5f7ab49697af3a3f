// Logs every change of the state of one account: one line with the reason.

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

/** More than an account has in one outage. */
const maxReasons = 20

export class StateLog {
  readonly #log: Log
  /** Why attempts have failed since a connection worked. */
  readonly #reasons = new Set<string>()
  /** The account fails again and again for the same reasons. */
  #isRepeating = false

  constructor(log: Log) {
    this.#log = log
  }

  /** The connection ended, before it worked or later. */
  dropped({ reason }: Closing, hadWorked: boolean): void {
    this.#isRepeating = !hadWorked && this.#reasons.has(reason)
    if (hadWorked) this.#reasons.clear()
    else if (this.#reasons.size < maxReasons) this.#reasons.add(reason)
  }

  /** Many accounts that try again and again would fill the log, so repeated failures are logged at debug. */
  changed(change: Change, why: Why | undefined): void {
    const { from, to, trigger } = change
    const facts = { ...change, ...factsOf(trigger, why) }
    if (to === 'logged_out') this.#log.warn(facts, 'instance state changed')
    else if (from === to || (attempts.has(trigger) && this.#isRepeating)) {
      this.#log.debug(facts, 'instance state changed')
    } else this.#log.info(facts, 'instance state changed')
  }
}

function factsOf(trigger: InstanceTrigger, why: Why | undefined): object {
  if (typeof why !== 'object') return { reason: why ?? reasonOfTrigger[trigger] }
  return { reason: why.reason, code: why.code, error_code: lastErrorCodeOf(why) }
}
