// Delivers one inbox row to the helpdesk: makes attempts and handles their failures, until the row is delivered or parked.

import type { InboxRow } from '../../storage/stores/messages/inbox-store.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { ConversationDirectory } from '../conversations/conversation-directory.ts'
import type { HelpdeskTarget } from '../conversations/conversation-opener.ts'
import type { DeliveryAttempt } from './delivery-attempt.ts'
import { countFailure, dropFile, forgetPosting, newProgress, reduce } from './delivery-progress.ts'
import type { DeliveryProgress } from './delivery-progress.ts'
import type { DestinationRouter } from './destination-router.ts'
import type { ExactlyOncePoster } from '../posting/exactly-once-poster.ts'
import { isRefusal, judgeFailure } from './failure-policy.ts'
import type { InboundMetrics } from './inbound-metrics.ts'
import type { ParkedRows } from './parked-rows.ts'
import type { RowInWork } from './row-in-work.ts'

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

/** How long to wait before the next attempt. */
type Pause = { pauseMs: number }

const atOnce: Pause = { pauseMs: 0 }
const maxReason = 500
/** The longest pause during which a fetched file is kept. */
const keptFileMs = 10_000

export class EventDelivery {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async run(work: RowInWork, signal: AbortSignal): Promise<DeliveryOutcome> {
    let progress: DeliveryProgress | undefined
    try {
      await work.enter()
      progress = await begin(work)
      while (progress && !signal.aborted) {
        const next = await this.#try(work, progress, signal)
        if (typeof next === 'string') return next
        if (next.pauseMs > 0) await this.#pause(work, progress, next.pauseMs, signal)
      }
      return endOf(signal)
    } catch (error) {
      if (signal.aborted) return 'stopped'
      throw error
    } finally {
      work.leave()
      if (progress) await dropFile(progress)
    }
  }

  async #try(work: RowInWork, progress: DeliveryProgress, signal: AbortSignal): Promise<DeliveryOutcome | Pause> {
    let target: HelpdeskTarget | undefined
    try {
      target = await this.#targetOf(work, progress, signal)
      const row = await work.read()
      if (!row) return endOf(signal)
      await this.#deps.attempts.run({ row, chat: work.chat, target, progress }, signal)
      if (progress.flaw !== undefined) this.#deps.destinations.hold(row.instance, target.destination, progress.flaw)
      return 'done'
    } catch (error) {
      if (signal.aborted) return 'stopped'
      const row = await work.read()
      return row ? this.#afterFailure(row, target, progress, error, signal) : endOf(signal)
    }
  }

  async #targetOf(work: RowInWork, progress: DeliveryProgress, signal: AbortSignal): Promise<HelpdeskTarget> {
    const rest = <T>(wait: () => Promise<T>) => work.rest(wait)
    const found = await this.#deps.destinations.waitForTarget(work.instance, rest, signal)
    const { destination, helpdesk, hasProbed } = found
    if (hasProbed) progress.hasProbed = true
    // A claim and a POST of unknown outcome belong to the destination they were made for.
    if (progress.destination !== destination.key) Object.assign(progress, { destination: destination.key, state: {} })
    const onStep = (step: DeliveryProgress['doing']) => {
      progress.doing = step
    }
    return { instance: work.instance, destination, helpdesk, onStep }
  }

  async #afterFailure(
    row: InboxRow,
    target: HelpdeskTarget | undefined,
    progress: DeliveryProgress,
    error: unknown,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome | Pause> {
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
      return atOnce
    }
    await this.#bestEffort(() => parked.noteFailure(row, reason))
    switch (action.act) {
      case 'park':
        return this.#park(row, progress, reason, signal)
      case 'replace':
        reduce(progress, row)
        return atOnce
      case 'relocate':
        if (target) await this.#relocate(row, target, progress)
        return { pauseMs: action.afterMs }
      case 'retry':
        // The helpdesk refused even a notice, so the message itself may not be the cause.
        if (isRefusal(error)) progress.stage = 'whole'
        return { pauseMs: action.afterMs }
      case 'hold':
        return atOnce
    }
  }

  async #pause(work: RowInWork, progress: DeliveryProgress, ms: number, signal: AbortSignal): Promise<void> {
    // Many chats may pause at the same time, and the network keeps the file as well.
    if (ms > keptFileMs) await dropFile(progress)
    await work.rest(() => sleep(this.#deps.clock, ms, signal))
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
    await this.#bestEffort(() => poster.endPosting(row.instance, state))
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

/** Undefined when the row is gone, or the signal aborts. */
async function begin(work: RowInWork): Promise<DeliveryProgress | undefined> {
  const row = await work.read()
  return row && newProgress(row)
}

/** The end of a delivery whose row could not be read: the row is gone or parked, unless the instance stops. */
function endOf(signal: AbortSignal): DeliveryOutcome {
  return signal.aborted ? 'stopped' : 'done'
}
