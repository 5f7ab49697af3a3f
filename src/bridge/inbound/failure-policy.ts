// What a failed delivery means for the message: wait for the destination, try again, say so instead, or set it aside.

import { DownstreamError } from '../../core/downstream.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { StorageError } from '../../storage/engine/statement.ts'

export type FailureAction =
  /** The destination itself takes nothing: wait until it does. */
  | { act: 'hold' }
  | { act: 'retry'; afterMs: number }
  /** Its conversation or contact is gone: find or make another one. */
  | { act: 'relocate'; afterMs: number }
  /** It will never be taken as it is: post a notice in its place. */
  | { act: 'replace' }
  | { act: 'park' }

export type Tries = {
  /** Failures in a row of this message. */
  failures: number
  /** Of those, refusals for a reason we cannot tell, the database's among them. */
  unexplained: number
  /** How often its conversation or contact was gone. */
  relocations: number
  /** How often it was refused as if by the destination, which turned out to work. */
  refusals: number
  /** Whether what was refused is already the notice in its place. */
  replaced: boolean
  ageMs: number
}

const floodMs = 60_000
const unexplainedTries = 10
const promptRelocations = 3
const refusalsOfItsOwn = 3

/** Refused for what it is, as far as one can tell: waiting alone may not help. */
export function isUnexplained(error: unknown): boolean {
  if (error instanceof StorageError) return error.failure === 'failed' || error.failure === 'constraint'
  return error instanceof DownstreamError && error.failure === 'unexplained'
}

export function judgeFailure(error: unknown, tries: Tries, inboxTtlMs: number, random?: () => number): FailureAction {
  const backoff = backoffMs(tries.failures, { firstMs: 1000, ceilingMs: 60_000, ...(random && { random }) })
  if (error instanceof StorageError) {
    return isUnexplained(error) && tries.unexplained >= unexplainedTries
      ? { act: 'park' }
      : { act: 'retry', afterMs: backoff }
  }
  // A fault of ours: the same message will meet it again, the next one may not.
  if (!(error instanceof DownstreamError)) return tries.replaced ? { act: 'park' } : { act: 'replace' }
  const isTooOld = tries.ageMs > inboxTtlMs
  const later: FailureAction = isTooOld
    ? { act: 'park' }
    : { act: 'retry', afterMs: Math.max(backoff, error.retryAfterMs ?? 0) }
  switch (error.failure) {
    case 'destination':
      // Refused time and again by a destination that works: what a filter on the way dislikes is in this message.
      if (tries.refusals < refusalsOfItsOwn) return { act: 'hold' }
      return tries.replaced ? later : { act: 'replace' }
    case 'flood':
      return { act: 'retry', afterMs: floodMs }
    case 'transient':
      return later
    case 'gone':
      // Whoever keeps deleting them, or answers so for another reason, is not asked in a tight loop.
      if (tries.relocations < promptRelocations) return { act: 'relocate', afterMs: 0 }
      return isTooOld ? { act: 'park' } : { act: 'relocate', afterMs: backoff }
    case 'unexplained':
      return tries.unexplained >= unexplainedTries ? { act: 'park' } : later
    case 'permanent':
      return tries.replaced ? { act: 'park' } : { act: 'replace' }
  }
}

/** Whether it was the answer to this very request, and not that nobody answers there. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof DownstreamError) || error.failure !== 'destination' || error.mayHaveHappened) return false
  return error.status !== null && error.status >= 400
}
