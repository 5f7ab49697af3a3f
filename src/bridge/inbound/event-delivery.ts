// Takes one event from the inbox to the helpdesk, through whatever goes wrong on the way, until it is done with or set aside.

import { accessKey } from '../../core/downstream.ts'
import type { Destination, Downstream } from '../../core/downstream.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { InboxRow, InboxStore } from '../../storage/stores/messages/inbox-store.ts'
import type { HeldDestinations } from './held-destinations.ts'
import type { DeliveryProgress, DeliveryAttempt } from './delivery-attempt.ts'
import { isRefusal, isUnexplained, judgeFailure } from './failure-policy.ts'
import type { Tries } from './failure-policy.ts'
import type { EventContexts } from '../conversations/event-context.ts'
import type { ConversationDirectory } from '../conversations/conversation-directory.ts'
import type { ExactlyOncePoster } from './exactly-once-poster.ts'
import type { InboundMetrics } from './inbound-metrics.ts'

export type DeliveryDeps = {
  attempts: DeliveryAttempt
  inbox: Pick<InboxStore, 'noteFailure' | 'park'>
  people: EventContexts
  directory: ConversationDirectory
  poster: ExactlyOncePoster
  held: HeldDestinations
  downstream: Pick<Downstream, 'helpdesk'>
  /** Null while the instance has no destination. */
  route: (instance: string) => Promise<Destination | null>
  report: InboundMetrics
  inboxTtlMs: number
  epoch: () => number
  clock: Clock
  log: Log
}

export type DeliveryOutcome = 'done' | 'parked' | 'stopped'

const maxReason = 500

export class EventDelivery {
  readonly #deps: DeliveryDeps

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
  }

  /** Never rejects; `stopped` leaves the row for another time. */
  async run(row: InboxRow, signal: AbortSignal): Promise<DeliveryOutcome> {
    const counts = { failures: 0, unexplained: 0, relocations: 0, refusals: 0 }
    const attempt: DeliveryProgress = {
      destination: '',
      state: {},
      stage: 'whole',
      hasProbed: false,
      doing: isMedia(row) ? 'media' : 'text',
      ...counts,
    }
    try {
      while (!signal.aborted) {
        const ended = await this.#try(row, attempt, signal)
        if (ended) return ended
      }
      return 'stopped'
    } finally {
      await this.#dropFile(attempt)
    }
  }

  /** Resolves when everything of this instance that was delivered before is off the inbox. */
  flushed(instance: string): Promise<void> {
    return this.#deps.poster.flushed(instance)
  }

  /** Undefined when it is worth another try now. */
  async #try(row: InboxRow, attempt: DeliveryProgress, signal: AbortSignal): Promise<DeliveryOutcome | undefined> {
    let destination: Destination | undefined
    try {
      destination = await this.#destinationOf(row.instance, attempt, signal)
      if (!destination) return 'stopped'
      // What is known of a message is valid only at the destination it was posted to.
      if (attempt.destination !== destination.key) Object.assign(attempt, { destination: destination.key, state: {} })
      await this.#deps.attempts.run(row, destination, attempt, signal)
      return 'done'
    } catch (error) {
      if (signal.aborted) return 'stopped'
      return this.#afterFailure(row, destination, attempt, error, signal)
    }
  }

  /** Waits until the instance has a destination that nothing is known against; undefined when stopped. */
  async #destinationOf(
    instance: string,
    attempt: DeliveryProgress,
    signal: AbortSignal,
  ): Promise<Destination | undefined> {
    const { route, held } = this.#deps
    while (!signal.aborted) {
      const destination = await route(instance)
      const key = destination ? accessKey(destination) : `${instance} (no helpdesk configured)`
      if (destination && !held.waitFor(key, instance)) return destination
      if (!destination) this.#holdUnconfigured(instance, key)
      const release = await settledOrAborted(held.waitFor(key, instance), signal)
      if (release === 'works') attempt.hasProbed = true
    }
    return undefined
  }

  #holdUnconfigured(instance: string, key: string): void {
    const reason = 'no helpdesk is configured for the instance: set DOWNSTREAM_* or its tenant'
    const probe = async () => {
      if (!(await this.#deps.route(instance))) throw new Error(reason)
    }
    this.#deps.held.hold({ key, destination: key, instance, reason, probe })
  }

  async #afterFailure(
    row: InboxRow,
    destination: Destination | undefined,
    attempt: DeliveryProgress,
    error: unknown,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome | undefined> {
    const { report, clock, inboxTtlMs, held, downstream, log, inbox, epoch } = this.#deps
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, maxReason)
    const verdict = judgeFailure(error, triesOf(attempt, error, clock.now() - row.receivedAt), inboxTtlMs)
    attempt.failures++
    report.failed(row.instance, attempt.doing)
    log.warn(
      { err: error, instance: row.instance, kind: row.event.kind, act: verdict.act },
      'a message was not delivered',
    )
    if (verdict.act === 'hold' && destination) {
      const probe = () => downstream.helpdesk(destination).probe()
      const { instance } = row
      held.hold({ key: accessKey(destination), destination: destination.key, instance, reason, probe })
      // That may take days; the network keeps the file as well.
      await this.#dropFile(attempt)
      return undefined
    }
    await this.#quietly(() => inbox.noteFailure(epoch(), row.id, reason))
    switch (verdict.act) {
      case 'park':
        await this.#quietly(() => this.#deps.poster.setAside(attempt.state))
        return this.#park(row, reason, signal)
      case 'replace':
        attempt.stage = attempt.stage === 'whole' && isMedia(row) ? 'bare' : 'notice'
        return undefined
      case 'relocate':
        if (destination) await this.#relocate(row, destination, attempt)
        if (verdict.afterMs > 0) await sleep(clock, verdict.afterMs, signal)
        return undefined
      case 'retry':
        // Not even a notice was taken: it may not be the message after all.
        if (isRefusal(error)) attempt.stage = 'whole'
        await sleep(clock, verdict.afterMs, signal)
        return undefined
      case 'hold':
        return undefined
    }
  }

  async #dropFile(attempt: DeliveryProgress): Promise<void> {
    const { file } = attempt
    if (typeof file !== 'object') return
    delete attempt.file
    await file[Symbol.asyncDispose]()
  }

  /** A conversation that is gone took what was posted there with it. */
  async #relocate({ instance, event }: InboxRow, destination: Destination, attempt: DeliveryProgress): Promise<void> {
    const { directory, people } = this.#deps
    attempt.relocations++
    delete attempt.state.uncertain
    delete attempt.state.begun
    await this.#quietly(async () => {
      const { place } = await people.contextOf(instance, event)
      await directory.forget(place, destination.key)
    })
  }

  async #park(row: InboxRow, reason: string, signal: AbortSignal): Promise<DeliveryOutcome> {
    const { inbox, epoch, report, log, clock } = this.#deps
    for (;;) {
      try {
        await inbox.park(epoch(), row.id, reason)
        break
      } catch (err) {
        if (signal.aborted) return 'stopped'
        log.error({ err, instance: row.instance }, 'a message could not be set aside yet')
        await sleep(clock, 1000, signal)
      }
    }
    report.countResult(row.instance, row.event.kind, 'ds_error')
    log.error(
      { instance: row.instance, id: row.id, kind: row.event.kind, reason },
      'a message was set aside: see parked',
    )
    return 'parked'
  }

  /** For what is only for people to look at: a failure is logged and nothing else. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (err) {
      this.#deps.log.warn({ err }, 'a note about a delivery was not stored')
    }
  }
}

/** What this failure adds up to with those before. */
function triesOf(attempt: DeliveryProgress, error: unknown, ageMs: number): Tries {
  const wasRefused = isRefusal(error)
  if (isUnexplained(error)) attempt.unexplained++
  if (wasRefused && attempt.hasProbed) attempt.refusals++
  attempt.hasProbed = false
  const { failures, unexplained, relocations, stage } = attempt
  const refusals = wasRefused ? attempt.refusals : 0
  return { failures, unexplained, relocations, refusals, replaced: stage === 'notice', ageMs }
}

function isMedia({ event }: InboxRow): boolean {
  return event.kind === 'message' && event.content.type === 'media'
}

/** Resolves with the promise, or to undefined as soon as the signal aborts. */
function settledOrAborted<T>(promise: Promise<T> | undefined, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve) => {
    const end = (result?: T) => {
      signal.removeEventListener('abort', abort)
      resolve(result)
    }
    const abort = () => {
      end()
    }
    signal.addEventListener('abort', abort, { once: true })
    void Promise.resolve(promise).then(end)
    if (signal.aborted) end()
  })
}
