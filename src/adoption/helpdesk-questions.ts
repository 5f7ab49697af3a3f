// Asks the helpdesk on behalf of a job: at a slow pace, and again while the helpdesk does not answer.

import { DownstreamError } from '../core/downstream.ts'
import type { Destination, HelpdeskInbox } from '../core/downstream.ts'
import { BridgeError } from '../core/errors.ts'
import type { DestinationKey, InstanceName } from '../core/ids.ts'
import { orAbort } from '../lib/abort.ts'
import { backoffMs } from '../lib/backoff.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { RequestPace } from './request-pace.ts'

type Target = { destination: Destination; helpdesk: HelpdeskInbox }

type Deps = {
  /** Resolves when the instance has a helpdesk inbox that takes requests. Rejects when the signal aborts. */
  waitForTarget: (instance: InstanceName, signal: AbortSignal) => Promise<Target>
  pace: Pick<RequestPace, 'turn'>
  clock: Clock
  log: Log
}

type Question<T> = (helpdesk: HelpdeskInbox) => Promise<T>

/** The helpdesk inbox of a job. It stays the same to the end of the job. */
export type JobInbox = { readonly destination: DestinationKey; ask<T>(question: Question<T>): Promise<T> }

const pauses = { firstMs: 1000, ceilingMs: 60_000 }
/** So often a request is repeated that the helpdesk refuses without a reason. */
const mostUnexplained = 5

export class HelpdeskQuestions {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async open(instance: InstanceName, signal: AbortSignal): Promise<JobInbox> {
    const { destination } = await this.#repeat(instance, signal, () =>
      orAbort(this.#deps.waitForTarget(instance, signal), signal),
    )
    const { key } = destination
    return { destination: key, ask: (question) => this.#ask({ instance, key, signal }, question) }
  }

  /** Rejects with a DownstreamError that no repetition cures. */
  #ask<T>(of: { instance: InstanceName; key: DestinationKey; signal: AbortSignal }, question: Question<T>): Promise<T> {
    const { instance, key, signal } = of
    return this.#repeat(instance, signal, async () => {
      const { destination, helpdesk } = await orAbort(this.#deps.waitForTarget(instance, signal), signal)
      if (destination.key !== key) throw otherInbox(instance)
      await this.#deps.pace.turn(key, signal)
      return orAbort(question(helpdesk), signal)
    })
  }

  /** A helpdesk that is away is waited for without an end. */
  async #repeat<T>(instance: InstanceName, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#deps
    let unexplained = 0
    for (let failures = 0; ; failures++) {
      try {
        return await work()
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof DownstreamError) || ['gone', 'permanent'].includes(error.failure)) throw error
        if (error.failure === 'unexplained' && ++unexplained >= mostUnexplained) throw error
        if (failures === 0) log.warn({ err: error, instance }, 'a job waits for the helpdesk')
        await sleep(clock, Math.max(backoffMs(failures, pauses), error.retryAfterMs ?? 0), signal)
        signal.throwIfAborted()
      }
    }
  }
}

function otherInbox(instance: InstanceName): BridgeError {
  const sentence = `the instance ${JSON.stringify(instance)} uses another helpdesk inbox by now: start again`
  return new BridgeError('SERVICE_OTHER_INBOX', sentence)
}
