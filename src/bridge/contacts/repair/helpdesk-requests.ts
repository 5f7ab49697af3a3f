// Makes the requests of a repair, one after the other at the pace of jobs. Waits while the helpdesk is away.

import { DownstreamError } from '../../../core/downstream.ts'
import { BridgeError } from '../../../core/errors.ts'
import type { DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { HelpdeskAttempts, JobTarget } from '../../../jobs/helpdesk-attempts.ts'
import type { HelpdeskPace } from '../../../jobs/helpdesk-pace.ts'

type Deps = { attempts: Pick<HelpdeskAttempts, 'run'>; pace: Pick<HelpdeskPace, 'turn'> }

/** Whose contacts they are, and at which helpdesk inbox. */
export type ContactsPlace = { instance: InstanceName; destination: DestinationKey }

export class HelpdeskRequests {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The helpdesk inbox of the instance. */
  async find(instance: InstanceName, signal: AbortSignal): Promise<ContactsPlace> {
    const destination = await this.#repeat(instance, (target) => Promise.resolve(target.destination), signal)
    return { instance, destination: destination.key }
  }

  /**
   * `request` makes so many requests, and all of them again after a failure. Rejects when the signal aborts, without waiting for the
   * request under way, and when the helpdesk refuses the request.
   */
  ask<T>(
    { instance, destination }: ContactsPlace,
    request: (target: JobTarget) => Promise<T>,
    signal: AbortSignal,
    count = 1,
  ): Promise<T> {
    const attempt = async (target: JobTarget) => {
      if (target.destination.key !== destination) throw movedAway()
      await this.#deps.pace.turn(destination, count, signal)
      return request(target)
    }
    return this.#repeat(instance, attempt, signal)
  }

  #repeat<T>(instance: InstanceName, attempt: (target: JobTarget) => Promise<T>, signal: AbortSignal): Promise<T> {
    // What is gone does not come back: the request is not repeated.
    const relocate = () => Promise.reject(new DownstreamError('gone', 'the helpdesk has no such contact any more'))
    return this.#deps.attempts.run(
      { instance, attempt, relocate, giveUp: (error) => Promise.reject(error as Error) },
      signal,
    )
  }
}

function movedAway(): BridgeError {
  const sentence = 'the instance has another helpdesk inbox now: start the repair again'
  return new BridgeError('SERVICE_HELPDESK_FAILED', sentence)
}
