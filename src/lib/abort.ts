// Waits for a promise or for an abort signal, whichever comes first.

import { settleAfter } from './clock.ts'

/** Settles like `promise`, or rejects with `reason()` (by default the signal's own) as soon as the signal aborts. */
export function orAbort<T>(promise: Promise<T>, signal: AbortSignal, reason?: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(reason ? reason() : (signal.reason as Error))
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const over = () => {
      signal.removeEventListener('abort', abort)
    }
    settleAfter(promise, over, { resolve, reject })
  })
}
