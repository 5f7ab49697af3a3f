// Repeats the work of a job at the helpdesk until it is done or given up. Waits while the helpdesk is away, as live messages do.

import type { Destination, HelpdeskInbox } from '../core/downstream.ts'
import type { InstanceName } from '../core/ids.ts'
import { orAbort } from '../lib/abort.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { JobStopped } from '../core/jobs/job-runner.ts'
import { isStorageAway } from '../storage/is-storage-away.ts'
import { judgeFailure, noFailures } from './helpdesk-failure.ts'

/** Says to which helpdesk inbox an instance delivers, and waits while that helpdesk inbox is held. */
type JobDestinations = {
  waitForTarget(
    instance: InstanceName,
    rest: <T>(wait: () => Promise<T>) => Promise<T>,
    signal: AbortSignal,
  ): Promise<Omit<JobTarget, 'onStep'> & { hasProbed: boolean }>
  /** The helpdesk inbox takes nothing: every delivery to it waits until a probe succeeds. */
  hold(instance: InstanceName, destination: Destination, reason: string): void
}

/** The helpdesk inbox that one attempt talks to. */
export type JobTarget = {
  instance: InstanceName
  destination: Destination
  helpdesk: HelpdeskInbox
  onStep: () => void
}

type Deps = { destinations: JobDestinations; clock: Clock; log: Log }

export type Repeated<T> = {
  instance: InstanceName
  attempt: (target: JobTarget) => Promise<T>
  /** What the attempt was about is gone. */
  relocate: (target: JobTarget) => Promise<void>
  giveUp: (error: unknown) => Promise<T>
}

export class HelpdeskAttempts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Rejects when the signal aborts, and with a StorageError while storage is away. A stopped job does not wait for the request
   * under way. A job that goes on in this process waits for it: otherwise its next
   * run would do the same work at the same time.
   */
  async run<T>(work: Repeated<T>, signal: AbortSignal): Promise<T> {
    const repeated = this.#repeat(work, signal)
    try {
      return await orAbort(repeated, signal)
    } catch (error) {
      if (!(signal.reason instanceof JobStopped)) await repeated.catch(ignoreRejection)
      throw error
    }
  }

  async #repeat<T>({ instance, attempt, relocate, giveUp }: Repeated<T>, signal: AbortSignal): Promise<T> {
    const { clock, destinations, log } = this.#deps
    const counts = noFailures()
    for (;;) {
      signal.throwIfAborted()
      let target: JobTarget | undefined
      try {
        const { hasProbed, ...found } = await destinations.waitForTarget(instance, (wait) => wait(), signal)
        counts.hasProbed ||= hasProbed
        target = { ...found, onStep: () => undefined }
        return await attempt(target)
      } catch (error) {
        signal.throwIfAborted()
        if (isStorageAway(error)) throw error
        const action = judgeFailure(error, counts)
        log.warn({ err: error, instance, act: action.act }, 'a step of a job failed')
        if (action.act === 'give_up') return await giveUp(error)
        if (action.act === 'hold' && target) destinations.hold(instance, target.destination, reasonOf(error))
        if (action.act === 'relocate' && target) await relocate(target)
        if (action.act !== 'hold') await sleep(clock, action.afterMs, signal)
      }
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
