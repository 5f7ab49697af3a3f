// Says what is known to be wrong with the callbacks of a helpdesk inbox: the service refuses them, or Chatwoot cannot deliver
// them. Chatwoot knows only the status of a refusal. The service knows its reason, so that reason and its cure count.

import type { LostCallbacks } from '../../bridge/conversations/lost-callbacks.ts'
import type { CallbackFailure } from '../../core/helpdesk/conversation.ts'
import { broken } from './finding.ts'
import type { Finding } from './finding.ts'

type Refusal = { instance: string; sentence: string; cure: string }

type Deps = {
  lost: Pick<LostCallbacks, 'list'>
  /** The callbacks that the service refuses at the moment. */
  refusals: () => readonly Refusal[]
}

const refusedByStatus = /^4\d\d\b/

export class CallbackFaults {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** `place` is the helpdesk inbox of the instance. Undefined when no fault is known. */
  known(instance: string, place: string): Finding | undefined {
    return this.explain(
      instance,
      this.#deps.lost.list().find(({ destination }) => destination === place),
    )
  }

  /** `failure` is the reason that Chatwoot gives; undefined when Chatwoot gives none. */
  explain(instance: string, failure: CallbackFailure | undefined): Finding | undefined {
    const mayBeRefused = !failure || refusedByStatus.test(failure.reason)
    const refusal = mayBeRefused ? this.#deps.refusals().find((each) => each.instance === instance) : undefined
    if (refusal) {
      return broken('round_trip', `the service refuses the callbacks of Chatwoot: ${refusal.sentence}`, refusal.cure)
    }
    return failure && broken('round_trip', `Chatwoot cannot deliver its callbacks: ${failure.reason}`, failure.advice)
  }
}
