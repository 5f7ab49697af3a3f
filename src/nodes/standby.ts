// Waits while another process acts on the database, and gives up after about a minute.

import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { StartError } from '../lib/start-error.ts'

/** The answer to one question. `refusedBy` names the process that acts; it is undefined when the answer names none. */
export type StandbyAnswer = { isDone: true } | { isDone: false; refusedBy: string | undefined }

type Options = {
  ask: () => Promise<StandbyAnswer>
  everyMs: number
  /** Logs a question without an answer. */
  onFailure: (error: unknown) => Promise<void> | void
  clock: Clock
  log: Log
  signal: AbortSignal
}

/** A standby waits for about a minute: each question takes its time, too. */
const standbyMs = 60_000
/** While the database is away, a failure is logged about every so often. */
const logEveryMs = 30_000

/** Resolves when a question was answered with "done"; rejects when the database names an acting process for the standby time. */
export async function waitAsStandby(options: Options): Promise<void> {
  const { ask, everyMs, onFailure, clock, log, signal } = options
  const [maxRefusals, logEvery] = [standbyMs / everyMs, logEveryMs / everyMs]
  for (let refusals = 0, failures = 0; !signal.aborted; await sleep(clock, everyMs, signal)) {
    let answer: StandbyAnswer
    try {
      answer = await ask()
    } catch (error) {
      if (error instanceof StartError) throw error
      // The time in which the database does not answer is not counted: the acting process may be dead.
      if (failures++ % logEvery === 0) await onFailure(error)
      continue
    }
    if (answer.isDone) return
    if (answer.refusedBy === undefined) continue
    if (++refusals > maxRefusals) throw new StartError(ownedBy(answer.refusedBy))
    if (refusals === 1) log.warn({ holder: answer.refusedBy }, 'another process owns the accounts, waiting')
  }
  throw new Error('stopped while waiting for another process')
}

export function ownedBy(owner: string): string {
  return `${owner} owns the accounts of this database: stop that process, or give this one a DATABASE_URL of its own`
}
