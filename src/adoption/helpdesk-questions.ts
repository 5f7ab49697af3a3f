// Asks the helpdesk on behalf of a take-over: at the pace of jobs, and again while the helpdesk does not answer.

import type { HelpdeskInbox } from '../core/downstream.ts'
import { BridgeError } from '../core/errors.ts'
import type { DestinationKey, InstanceName } from '../core/ids.ts'
import type { HelpdeskAttempts, JobTarget } from '../jobs/helpdesk-attempts.ts'
import type { HelpdeskPace } from '../jobs/helpdesk-pace.ts'

type Deps = { attempts: Pick<HelpdeskAttempts, 'run'>; pace: Pick<HelpdeskPace, 'turn'> }

type Question<T> = (helpdesk: HelpdeskInbox) => Promise<T>

/** The helpdesk inbox of a job. It stays the same to the end of the job. */
export type JobInbox = { readonly destination: DestinationKey; ask<T>(question: Question<T>): Promise<T> }

export class HelpdeskQuestions {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async open(instance: InstanceName, signal: AbortSignal): Promise<JobInbox> {
    const key = await this.#attempt(instance, signal, ({ destination }) => Promise.resolve(destination.key))
    const ask = <T>(question: Question<T>) =>
      this.#attempt(instance, signal, async ({ destination, helpdesk }) => {
        if (destination.key !== key) throw otherInbox(instance)
        await this.#deps.pace.turn(key, 1, signal)
        return question(helpdesk)
      })
    return { destination: key, ask }
  }

  /** Rejects with a failure that no repetition cures. */
  async #attempt<T>(instance: InstanceName, signal: AbortSignal, work: (target: JobTarget) => Promise<T>): Promise<T> {
    let failure: unknown
    const attempt = async (target: JobTarget) => {
      try {
        return await work(target)
      } catch (error) {
        failure = error
        throw error
      }
    }
    const giveUp = () => {
      throw failure
    }
    return this.#deps.attempts.run({ instance, attempt, relocate: giveUp, giveUp }, signal)
  }
}

function otherInbox(instance: InstanceName): BridgeError {
  const sentence = `the instance ${JSON.stringify(instance)} uses another helpdesk inbox by now: start again`
  return new BridgeError('SERVICE_OTHER_INBOX', sentence)
}
