// What a failed delivery means for the message: wait for the destination, try again, say so instead, or set it aside.

import { DownstreamError } from '../core/downstream.ts'
import { backoffMs } from '../lib/backoff.ts'
import { StorageError } from '../storage/statement.ts'

export type Verdict =
  /** The destination itself takes nothing: wait until it does. */
  | { act: 'hold' }
  | { act: 'retry'; afterMs: number }
  /** Its conversation or contact is gone: find or make another one. */
  | { act: 'relocate' }
  /** It will never be taken as it is: post a notice in its place. */
  | { act: 'replace' }
  | { act: 'park' }

export type Tries = {
  /** Failures in a row of this message. */
  failures: number
  /** Of those, refusals for a reason we cannot tell, the database's among them. */
  unexplained: number
  /** Whether what was refused is already the notice in its place. */
  replaced: boolean
  ageMs: number
}

const floodMs = 60_000
const unexplainedTries = 10
const maxRelocations = 3

/** Refused for what it is, as far as one can tell: waiting alone may not help. */
export function isUnexplained(error: unknown): boolean {
  if (error instanceof StorageError) return error.failure === 'failed' || error.failure === 'constraint'
  return error instanceof DownstreamError && error.failure === 'unexplained'
}

export function judgeFailure(error: unknown, tries: Tries, inboxTtlMs: number, random?: () => number): Verdict {
  const backoff = backoffMs(tries.failures, { firstMs: 1000, ceilingMs: 60_000, ...(random && { random }) })
  if (error instanceof StorageError) {
    return isUnexplained(error) && tries.unexplained >= unexplainedTries
      ? { act: 'park' }
      : { act: 'retry', afterMs: backoff }
  }
  // A fault of ours: the same message will meet it again, the next one may not.
  if (!(error instanceof DownstreamError)) return tries.replaced ? { act: 'park' } : { act: 'replace' }
  const isTooOld = tries.ageMs > inboxTtlMs
  const later: Verdict = isTooOld
    ? { act: 'park' }
    : { act: 'retry', afterMs: Math.max(backoff, error.retryAfterMs ?? 0) }
  switch (error.failure) {
    case 'destination':
      return { act: 'hold' }
    case 'flood':
      return { act: 'retry', afterMs: floodMs }
    case 'transient':
      return later
    case 'gone':
      return tries.failures < maxRelocations ? { act: 'relocate' } : later
    case 'unexplained':
      return tries.unexplained >= unexplainedTries ? { act: 'park' } : later
    case 'permanent':
      return tries.replaced ? { act: 'park' } : { act: 'replace' }
  }
}
