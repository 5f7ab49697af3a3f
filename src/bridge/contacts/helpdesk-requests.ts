// Makes the requests of a job about contacts, one after the other at their pace. Waits while the helpdesk does not answer.

import { DownstreamError } from '../../core/downstream.ts'
import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import { BridgeError } from '../../core/errors.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import { orAbort } from '../../lib/abort.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { RequestPace } from './request-pace.ts'

export type ContactsTarget = { destination: Destination; helpdesk: HelpdeskInbox }

type Deps = {
  /** Null when the instance has no helpdesk inbox. Rejects with a DownstreamError when the helpdesk cannot be asked. */
  targetOf: (instance: InstanceName) => Promise<ContactsTarget | null>
  pace: Pick<RequestPace, 'turn'>
  clock: Clock
  log: Log
}

/** Whose contacts they are, and at which helpdesk inbox. */
export type ContactsPlace = { instance: InstanceName; destination: DestinationKey }

const pauses = { firstMs: 1000, ceilingMs: 30_000 }
/** A job that fails loses nothing: it can be started again. */
const patienceMs = 600_000

export class HelpdeskRequests {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The helpdesk inbox of the instance. */
  async find(instance: InstanceName, signal: AbortSignal): Promise<ContactsPlace> {
    const destination = await this.#patiently(instance, signal, async () => (await this.#target(instance)).destination)
    return { instance, destination: destination.key }
  }

  /**
   * Rejects within a second when the signal aborts: the request under way is not waited for. Rejects with a DownstreamError when
   * the helpdesk refuses the request, and with a BridgeError when it does not answer for ten minutes.
   */
  ask<T>(
    { instance, destination }: ContactsPlace,
    request: (target: ContactsTarget) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    return this.#patiently(instance, signal, async () => {
      await this.#deps.pace.turn(destination, signal)
      const target = await this.#target(instance)
      if (target.destination.key === destination) return request(target)
      const sentence = 'the instance has another helpdesk inbox now: start the job again'
      throw new BridgeError('SERVICE_HELPDESK_FAILED', sentence)
    })
  }

  async #target(instance: InstanceName): Promise<ContactsTarget> {
    const target = await this.#deps.targetOf(instance)
    if (target) return target
    const sentence = 'no helpdesk is configured for the instance: set DOWNSTREAM_* or its tenant'
    throw new BridgeError('SERVICE_NO_HELPDESK', sentence)
  }

  async #patiently<T>(instance: InstanceName, signal: AbortSignal, request: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#deps
    const since = clock.monotonic()
    for (let failures = 0; ; failures++) {
      signal.throwIfAborted()
      try {
        return await orAbort(request(), signal)
      } catch (error) {
        signal.throwIfAborted()
        if (!isAway(error)) throw error
        if (clock.monotonic() - since >= patienceMs) throw unreachable(error)
        if (failures === 0) log.warn({ err: error, instance }, 'a job about contacts waits for the helpdesk')
        await sleep(clock, Math.max(backoffMs(failures, pauses), error.retryAfterMs ?? 0), signal)
      }
    }
  }
}

function isAway(error: unknown): error is DownstreamError {
  return error instanceof DownstreamError && ['transient', 'destination', 'flood'].includes(error.failure)
}

function unreachable(cause: DownstreamError): BridgeError {
  const sentence = `the helpdesk has not answered for ten minutes: ${cause.message}`
  return new BridgeError('SERVICE_HELPDESK_UNREACHABLE', sentence, { cause })
}
