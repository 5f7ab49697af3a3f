// Waits while another process acts on the database, and gives up after about a minute.

import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { StartError } from '../lib/start-error.ts'

/** The answer to one question. `refusedBy` names the process that acts; it is undefined when the answer names none. */
export type StandbyAnswer<T> = { granted: T } | { refusedBy: string | undefined }

type Options<T> = {
  ask: () => Promise<StandbyAnswer<T>>
  everyMs: number
  /** Logs a question without an answer. */
  onFailure: (error: unknown) => Promise<void> | void
  clock: Clock
  log: Log
  signal: AbortSignal
}

/** A standby waits for about a minute: each question takes its time, too. */
export const standbyMs = 60_000
/** While the database is away, a failure is logged about every so often. */
const logEveryMs = 30_000

/** Resolves with what is granted; rejects when the database names an acting process for the standby time. */
export async function waitAsStandby<T>(options: Options<T>): Promise<T> {
  const { ask, everyMs, onFailure, clock, log, signal } = options
  let [refusals, failures] = [0, 0]
  while (!signal.aborted) {
    try {
      const answer = await ask()
      if ('granted' in answer) return answer.granted
      const { refusedBy } = answer
      if (refusedBy !== undefined) {
        if (++refusals > standbyMs / everyMs) throw new StartError(ownedBy(refusedBy))
        if (refusals === 1) log.warn({ holder: refusedBy }, 'another process owns the accounts, waiting')
      }
    } catch (error) {
      if (error instanceof StartError) throw error
      // The time in which the database does not answer is not counted: the acting process may be dead.
      if (failures++ % (logEveryMs / everyMs) === 0) await onFailure(error)
    }
    await sleep(clock, everyMs, signal)
  }
  throw new Error('stopped while waiting for another process')
}

export function ownedBy(owner: string): string {
  return `${owner} owns the accounts of this database: stop that process, or give this one a DATABASE_URL of its own`
}
