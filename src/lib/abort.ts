// Waits for a promise or for an abort signal, whichever comes first.

/** Settles like `promise`, or rejects with `reason()` (by default the signal's own) as soon as the signal aborts. */
export function orAbort<T>(promise: Promise<T>, signal: AbortSignal, reason?: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(reason ? reason() : (signal.reason as Error))
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort)
    })
  })
}
