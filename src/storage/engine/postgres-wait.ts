// Waits for a PostgreSQL that does not answer yet: a container often starts together with its database.

import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { explainRefusal, explainSilence, mayAnswerLater, reasonOf, serverOf } from './explain-postgres.ts'

const patienceMs = 60_000
const pauseMs = 1000

type Options = {
  url: string
  clock: Clock
  log: Log
  /** Ends the wait. */
  signal: AbortSignal | undefined
}

/** Repeats the work while the server does not answer. Rejects at once when the server refuses. */
export async function whenReachable<T>({ url, clock, log, signal }: Options, work: () => Promise<T>): Promise<T> {
  const startedAt = clock.monotonic()
  for (let attempts = 1; ; attempts++) {
    try {
      return await work()
    } catch (cause) {
      if (!mayAnswerLater(cause)) throw explainRefusal(url, cause) ?? cause
      const waitedMs = clock.monotonic() - startedAt
      if (waitedMs >= patienceMs || signal?.aborted) throw explainSilence(url, cause, waitedMs)
      // The error itself is not logged: it refers to the client, which holds the password.
      if (attempts === 1) log.warn({ server: serverOf(url), reason: reasonOf(cause) }, 'waiting for the database')
      await sleep(clock, pauseMs, signal)
    }
  }
}
