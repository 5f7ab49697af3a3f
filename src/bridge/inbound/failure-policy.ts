// Decides what follows a failed attempt: hold the destination, try again, post a notice instead, or park the row.

import { DownstreamError } from '../../core/downstream.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { TextThreadError } from '../../lib/text/text-thread-error.ts'
import { StorageError } from '../../storage/engine/statement.ts'

type FailureAction =
  /** The destination itself takes nothing. */
  | { act: 'hold' }
  | { act: 'retry'; afterMs: number }
  /** The conversation or the contact is gone: find or create another one. */
  | { act: 'relocate'; afterMs: number }
  /** The message will never be accepted as it is: post a notice in its place. */
  | { act: 'replace' }
  | { act: 'park' }

export type Tries = {
  /** Failures of this row so far. */
  failures: number
  /** How many of them were of an unknown cause: the helpdesk or the database refused the row, or the thread for texts ended. */
  unexplained: number
  /** How often the conversation or the contact was gone. */
  relocations: number
  /** How often the destination refused the message although a probe found the destination working. */
  refusals: number
  /** Whether the notice was refused already. */
  replaced: boolean
  ageMs: number
}

const floodMs = 60_000
const unexplainedTries = 10
const promptRelocations = 3
const maxRefusals = 3

/** The row itself may be the cause, so waiting alone may not help. */
export function isUnexplained(error: unknown): boolean {
  if (error instanceof StorageError) return error.failure === 'failed' || error.failure === 'constraint'
  if (error instanceof TextThreadError) return true
  return error instanceof DownstreamError && error.failure === 'unexplained'
}

/** Storage may answer later. */
export function isStorageAway(error: unknown): boolean {
  return error instanceof StorageError && !isUnexplained(error)
}

export function judgeFailure(error: unknown, tries: Tries, inboxTtlMs: number, random?: () => number): FailureAction {
  const backoff = backoffMs(tries.failures, { firstMs: 1000, ceilingMs: 60_000, ...(random && { random }) })
  if (error instanceof StorageError || error instanceof TextThreadError) {
    return isUnexplained(error) && tries.unexplained >= unexplainedTries
      ? { act: 'park' }
      : { act: 'retry', afterMs: backoff }
  }
  // A fault of our own code. The same message would meet it again; the next message may not.
  if (!(error instanceof DownstreamError)) return tries.replaced ? { act: 'park' } : { act: 'replace' }
  const isTooOld = tries.ageMs > inboxTtlMs
  const later: FailureAction = isTooOld
    ? { act: 'park' }
    : { act: 'retry', afterMs: Math.max(backoff, error.retryAfterMs ?? 0) }
  switch (error.failure) {
    case 'destination':
      // A destination that works refuses this message again and again: a filter on the way may dislike its content.
      if (tries.refusals < maxRefusals) return { act: 'hold' }
      return tries.replaced ? later : { act: 'replace' }
    case 'flood':
      return { act: 'retry', afterMs: floodMs }
    case 'transient':
      return later
    case 'gone':
      // If conversations keep disappearing, the helpdesk is not asked in a tight loop.
      if (tries.relocations < promptRelocations) return { act: 'relocate', afterMs: 0 }
      return isTooOld ? { act: 'park' } : { act: 'relocate', afterMs: backoff }
    case 'unexplained':
      return tries.unexplained >= unexplainedTries ? { act: 'park' } : later
    case 'permanent':
      return tries.replaced ? { act: 'park' } : { act: 'replace' }
  }
}

/** Whether the helpdesk answered this very request with a refusal. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof DownstreamError) || error.failure !== 'destination' || error.mayHaveHappened) return false
  return error.status !== null && error.status >= 400
}
