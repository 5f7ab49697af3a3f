// Decides what follows a failed attempt of a job at the helpdesk.

import { DownstreamError } from '../core/downstream.ts'
import { backoffMs } from '../lib/backoff.ts'
import { TextThreadError } from '../lib/text/text-thread-error.ts'
import { StorageError } from '../storage/engine/statement.ts'

type FailureAction =
  /** The destination takes nothing: wait until it works again. */
  | { act: 'hold' }
  | { act: 'retry'; afterMs: number }
  /** What the attempt was about is gone: look for it again. */
  | { act: 'relocate'; afterMs: number }
  /** The work will not be done. */
  | { act: 'give_up' }

/** What has failed so far. `hasProbed`: a probe has found the destination working meanwhile. */
export type FailureCounts = {
  failures: number
  unexplained: number
  refusals: number
  relocations: number
  hasProbed: boolean
}

const floodMs = 60_000
const mostUnexplained = 10
const mostRefusals = 3
const promptRelocations = 3

export function noFailures(): FailureCounts {
  return { failures: 0, unexplained: 0, refusals: 0, relocations: 0, hasProbed: false }
}

/** Counts the failure, too. An unavailable helpdesk is waited for without an end. */
export function judgeFailure(error: unknown, counts: FailureCounts): FailureAction {
  const afterMs = backoffMs(counts.failures++, { firstMs: 1000, ceilingMs: 60_000 })
  // The work itself may be the cause.
  if (error instanceof TextThreadError || error instanceof StorageError)
    return orGiveUp(++counts.unexplained < mostUnexplained, afterMs)
  // A fault of our own code. The same work would meet it again; the next may not.
  if (!(error instanceof DownstreamError)) return { act: 'give_up' }
  switch (error.failure) {
    case 'destination':
      // A destination that works refuses this request again and again: a filter on the way may dislike its content.
      if (counts.hasProbed && isRefusal(error)) counts.refusals++
      return counts.refusals < mostRefusals ? { act: 'hold' } : { act: 'give_up' }
    case 'flood':
      return { act: 'retry', afterMs: floodMs }
    case 'transient':
      return { act: 'retry', afterMs: Math.max(afterMs, error.retryAfterMs ?? 0) }
    case 'gone':
      return { act: 'relocate', afterMs: counts.relocations++ < promptRelocations ? 0 : afterMs }
    case 'unexplained':
      return orGiveUp(++counts.unexplained < mostUnexplained, afterMs)
    case 'permanent':
      return { act: 'give_up' }
  }
}

/** The helpdesk answered this very request with a refusal. */
function isRefusal({ status, mayHaveHappened }: DownstreamError): boolean {
  return !mayHaveHappened && status !== null && status >= 400
}

function orGiveUp(mayRetry: boolean, afterMs: number): FailureAction {
  return mayRetry ? { act: 'retry', afterMs } : { act: 'give_up' }
}
