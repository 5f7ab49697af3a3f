// Repeats work that must not be given up, with growing pauses, until it succeeds or the caller stops waiting.

import { backoffMs } from './backoff.ts'
import { sleep } from './clock.ts'
import type { Clock } from './clock.ts'

type Options = {
  clock: Clock
  /** Ends the repetition. The attempt under way still finishes. */
  signal: AbortSignal
  pauses: { firstMs: number; ceilingMs: number }
  /** Logs the failure. An error thrown here ends the repetition and rejects the caller's promise. */
  onFailure: (error: unknown, failures: number) => void
}

/** Undefined when the signal aborted first. */
export async function retryUntil<T>(options: Options, work: () => Promise<T>): Promise<{ value: T } | undefined> {
  const { clock, signal, pauses, onFailure } = options
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return { value: await work() }
    } catch (error) {
      onFailure(error, failures)
      await sleep(clock, backoffMs(failures, pauses), signal)
    }
  }
  return undefined
}
