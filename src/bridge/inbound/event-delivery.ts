// Delivers one inbox row to the helpdesk: makes attempts and handles their failures, until the row is delivered or parked.

import type { InboxRow } from '../../storage/stores/messages/inbox-store.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { ConversationDirectory } from '../conversations/conversation-directory.ts'
import type { HelpdeskTarget } from '../conversations/conversation-opener.ts'
import type { EventChat } from '../conversations/event-context.ts'
import type { DeliveryAttempt } from './delivery-attempt.ts'
import { countFailure, dropFile, forgetPosting, newProgress, reduce } from './delivery-progress.ts'
import type { DeliveryProgress } from './delivery-progress.ts'
import type { DestinationRouter } from './destination-router.ts'
import type { ExactlyOncePoster } from './exactly-once-poster.ts'
import { isRefusal, judgeFailure } from './failure-policy.ts'
import type { InboundMetrics } from './inbound-metrics.ts'
import type { ParkedRows } from './parked-rows.ts'

type Deps = {
  attempts: Pick<DeliveryAttempt, 'run'>
  destinations: Pick<DestinationRouter, 'waitForTarget' | 'hold'>
  directory: Pick<ConversationDirectory, 'forget'>
  poster: Pick<ExactlyOncePoster, 'endPosting'>
  parked: Pick<ParkedRows, 'noteFailure' | 'park'>
  metrics: Pick<InboundMetrics, 'failed'>
  inboxTtlMs: number
  clock: Clock
  log: Log
}

/** stopped: the row stays in the inbox for the next start. */
type DeliveryOutcome = 'done' | 'parked' | 'stopped'

const maxReason = 500

export class EventDelivery {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Never rejects. */
  async run(row: InboxRow, chat: EventChat | null, signal: AbortSignal): Promise<DeliveryOutcome> {
    const progress = newProgress(row)
    try {
      while (!signal.aborted) {
        const outcome = await this.#try(row, chat, progress, signal)
        if (outcome) return outcome
      }
      return 'stopped'
    } finally {
      await dropFile(progress)
    }
  }

  /** Undefined when the row needs another attempt. */
  async #try(
    row: InboxRow,
    chat: EventChat | null,
    progress: DeliveryProgress,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome | undefined> {
    let target: HelpdeskTarget | undefined
    try {
      target = await this.#targetOf(row, progress, signal)
      await this.#deps.attempts.run({ row, chat, target, progress }, signal)
      if (progress.flaw !== undefined) this.#deps.destinations.hold(row.instance, target.destination, progress.flaw)
      return 'done'
    } catch (error) {
      if (signal.aborted) return 'stopped'
      return this.#afterFailure(row, target, progress, error, signal)
    }
  }

  async #targetOf({ instance }: InboxRow, progress: DeliveryProgress, signal: AbortSignal): Promise<HelpdeskTarget> {
    const { destination, helpdesk, hasProbed } = await this.#deps.destinations.waitForTarget(instance, signal)
    if (hasProbed) progress.hasProbed = true
    // A claim and a POST of unknown outcome belong to the destination they were made for.
    if (progress.destination !== destination.key) Object.assign(progress, { destination: destination.key, state: {} })
    const onStep = (step: DeliveryProgress['doing']) => {
      progress.doing = step
    }
    return { destination, helpdesk, onStep }
  }

  async #afterFailure(
    row: InboxRow,
    target: HelpdeskTarget | undefined,
    progress: DeliveryProgress,
    error: unknown,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome | undefined> {
    const { destinations, parked, metrics, clock, inboxTtlMs, log } = this.#deps
    const { instance, event, receivedAt } = row
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, maxReason)
    const action = judgeFailure(error, countFailure(progress, error, clock.now() - receivedAt), inboxTtlMs)
    metrics.failed(instance, progress.doing)
    log.warn({ err: error, instance, kind: event.kind, act: action.act }, 'a message was not delivered')
    if (action.act === 'hold' && target) {
      destinations.hold(instance, target.destination, reason)
      // The destination may be held for days, and the network keeps the file as well.
      await dropFile(progress)
      return undefined
    }
    await this.#bestEffort(() => parked.noteFailure(row, reason))
    switch (action.act) {
      case 'park':
        return this.#park(row, progress, reason, signal)
      case 'replace':
        reduce(progress, row)
        return undefined
      case 'relocate':
        if (target) await this.#relocate(row, target, progress)
        if (action.afterMs > 0) await sleep(clock, action.afterMs, signal)
        return undefined
      case 'retry':
        // The helpdesk refused even a notice, so the message itself may not be the cause.
        if (isRefusal(error)) progress.stage = 'whole'
        await sleep(clock, action.afterMs, signal)
        return undefined
      case 'hold':
        return undefined
    }
  }

  async #relocate({ instance }: InboxRow, { destination }: HelpdeskTarget, progress: DeliveryProgress): Promise<void> {
    const { chatId } = progress
    forgetPosting(progress)
    if (chatId === undefined) return
    await this.#bestEffort(() => this.#deps.directory.forget({ instance, chatId }, destination.key))
  }

  async #park(
    row: InboxRow,
    { state }: DeliveryProgress,
    reason: string,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome> {
    const { poster, parked } = this.#deps
    await this.#bestEffort(() => poster.endPosting(state))
    return (await parked.park(row, reason, signal)) ? 'parked' : 'stopped'
  }

  /** For notes that the delivery does not depend on: a failure is only logged. */
  async #bestEffort(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (err) {
      this.#deps.log.warn({ err }, 'a note about a delivery was not stored')
    }
  }
}
