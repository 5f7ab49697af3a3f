// The source of time: every part that waits or needs the time takes a Clock, so that tests decide when time passes.

export type Clock = {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds on a scale that never goes back. */
  monotonic(): number
  /** Runs `work` once after `ms`; the returned function cancels it. */
  after(ms: number, work: () => void): () => void
}

/** Node fires a longer timer immediately. */
const longestTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, work) {
    if (ms > longestTimerMs) return afterLong(ms, work)
    const timer = setTimeout(work, ms)
    return () => {
      clearTimeout(timer)
    }
  },
}

function afterLong(ms: number, work: () => void): () => void {
  let cancel = systemClock.after(longestTimerMs, () => {
    cancel = systemClock.after(ms - longestTimerMs, work)
  })
  return () => {
    cancel()
  }
}

/** Calls `over` when the work has ended, then settles like the work. A `finally` would take three more promises. */
export function settleAfter<T>(
  work: Promise<T>,
  over: () => void,
  { resolve, reject }: Pick<PromiseWithResolvers<T>, 'resolve' | 'reject'>,
): void {
  work.then(
    (value) => {
      over()
      resolve(value)
    },
    (error: unknown) => {
      over()
      reject(error)
    },
  )
}

/** Resolves after `ms`, or at once when the signal aborts: the caller looks at the signal to tell which. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve()
      return
    }
    const finish = () => {
      cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const cancel = clock.after(ms, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}

/** Settles like `work`, but rejects with `late()` when that takes longer than `ms`. The work itself goes on. */
export function withDeadline<T>(clock: Clock, ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      reject(late())
    })
    settleAfter(work, cancel, { resolve, reject })
  })
}

/** Like withDeadline, for work that may have to wait in a queue: the time inside `withoutDeadline` does not count. */
export function withPausableDeadline<T>(
  clock: Clock,
  ms: number,
  work: (withoutDeadline: <R>(wait: () => Promise<R>) => Promise<R>) => Promise<T>,
  late: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => {
      reject(late())
    }
    let cancel = clock.after(ms, fail)
    const withoutDeadline = async <R>(wait: () => Promise<R>): Promise<R> => {
      cancel()
      try {
        return await wait()
      } finally {
        cancel = clock.after(ms, fail)
      }
    }
    const over = () => {
      cancel()
    }
    settleAfter(work(withoutDeadline), over, { resolve, reject })
  })
}
