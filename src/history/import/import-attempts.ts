// Repeats work at the helpdesk until it is done or given up. Waits while the helpdesk is away, as live messages do.

import type { HelpdeskTarget } from '../../bridge/conversations/conversation-opener.ts'
import type { InstanceName } from '../../core/ids.ts'
import { orAbort } from '../../lib/abort.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { JobStopped } from '../../core/jobs/job-runner.ts'
import { isStorageAway } from '../../storage/is-storage-away.ts'
import { judgeImportFailure, noFailures } from './import-failure.ts'
import type { Destinations } from './import-work.ts'

type Deps = { destinations: Destinations; clock: Clock; log: Log }

export type Repeated<T> = {
  instance: InstanceName
  attempt: (target: HelpdeskTarget) => Promise<T>
  /** The conversation is gone. */
  relocate: (target: HelpdeskTarget) => Promise<void>
  giveUp: (error: unknown) => Promise<T>
}

export class ImportAttempts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Rejects when the signal aborts, and with a StorageError while storage is away. A stopped import does not wait for the request
   * under way. An import that will go on in this process does: otherwise its next run would do the same beside it.
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
      let target: HelpdeskTarget | undefined
      try {
        const { hasProbed, ...found } = await destinations.waitForTarget(instance, (wait) => wait(), signal)
        counts.hasProbed ||= hasProbed
        target = { ...found, onStep: () => undefined }
        return await attempt(target)
      } catch (error) {
        signal.throwIfAborted()
        if (isStorageAway(error)) throw error
        const action = judgeImportFailure(error, counts)
        log.warn({ err: error, instance, act: action.act }, 'a step of an import failed')
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
