// Sets the status of one message at the helpdesk to what the phones report of it.

import { DownstreamError } from '../../../core/downstream.ts'
import type { Destination, HelpdeskInbox } from '../../../core/downstream.ts'
import type { InstanceName } from '../../../core/ids.ts'
import { highestTick, isHigher, longestTickPauseMs, lowestTick } from '../../../core/tick.ts'
import type { Tick } from '../../../core/tick.ts'
import type { TraceSubject, Traces } from '../../../core/trace/traces.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { DueTick, TickedMessage, TickedPart, TickStore } from '../../../storage/stores/messages/tick-store.ts'
import type { OwnChanges } from '../../conversations/own-changes.ts'
import type { TickCounts } from './tick-counts.ts'

export type TargetOf = (instance: InstanceName) => Promise<{
  destination: Pick<Destination, 'key'>
  helpdesk: Pick<HelpdeskInbox, 'setStatus' | 'markSeen' | 'markUnread'>
} | null>

type Deps = {
  store: Pick<TickStore, 'message' | 'settle' | 'ticked' | 'postpone'>
  targetOf: TargetOf
  changes: Pick<OwnChanges, 'begun' | 'planned'>
  counts: Pick<TickCounts, 'ended' | 'failed'>
  traces: Pick<Traces, 'during'>
  clock: Clock
  log: Log
}

const tryAgainMs = 30_000
// Chatwoot counts the messages of a minute.
const floodMs = 60_000
const giveUpMs = 24 * 3_600_000
// The callback of our change has failed by then, if it fails.
const lookMs = 10_000

/** The tick that the helpdesk does not show yet; null when there is none. A message is not ticked before all of it is sent. */
function missingTick({ parts, isSent }: TickedMessage): Tick | null {
  const reported = isSent ? lowestTick(parts.map((part) => part.reported)) : null
  return isHigher(reported, highestTick(parts.map(({ ticked }) => ticked))) ? reported : null
}

/** Null for a direct message: its trace is that of its row in the outbox, which the message map does not name. */
function subjectOf(
  { instance, destination, messageId }: DueTick,
  { echoOf, hasRow }: TickedMessage,
): TraceSubject | null {
  if (echoOf !== null) return { of: 'network', instance, id: echoOf, kind: 'message' }
  return hasRow ? { of: 'helpdesk', destination, id: messageId } : null
}

export class TickSetter {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Does nothing when the tick is not due any more. */
  async setIfDue(due: DueTick): Promise<void> {
    const { store, changes, counts, clock } = this.#deps
    const message = await store.message(due.destination, due.messageId)
    const { parts } = message
    const now = clock.now()
    if (!parts.some(({ tickAt }) => tickAt !== null && tickAt <= now)) return
    const tick = missingTick(message)
    if (tick === null) {
      await store.settle(due.instance, parts)
      counts.ended(due.instance, parts, 'ok')
      return
    }
    const failure = await this.#traced(due, message, tick)
    if (failure) return this.#afterFailure(due, parts, failure)
    const lookAt = clock.now() + lookMs
    await store.ticked(due, parts, tick, lookAt)
    changes.planned(due.destination, due.messageId, lookAt)
    counts.ended(due.instance, parts, 'ok')
  }

  /** Undefined after a success. */
  #traced(due: DueTick, message: TickedMessage, tick: Tick): Promise<DownstreamError | undefined> {
    const subject = subjectOf(due, message)
    if (!subject) return this.#set(due, tick)
    const facts = { instance: due.instance, direction: 'out', kind: tick } as const
    return this.#deps.traces.during({ subject, name: 'tick', facts }, async (known) => {
      const failure = await this.#set(due, tick)
      known.outcome = failure?.failure ?? 'ok'
      return failure
    })
  }

  async #set(
    { instance, destination, conversationId, messageId }: DueTick,
    tick: Tick,
  ): Promise<DownstreamError | undefined> {
    const { targetOf, changes } = this.#deps
    try {
      const target = await targetOf(instance)
      if (target?.destination.key !== destination) return new DownstreamError('gone', 'another helpdesk is configured')
      changes.begun(destination, messageId)
      await target.helpdesk.setStatus(conversationId, messageId, tick)
      return undefined
    } catch (error) {
      if (error instanceof DownstreamError) return error
      throw error
    }
  }

  async #afterFailure(due: DueTick, parts: readonly TickedPart[], error: DownstreamError): Promise<void> {
    const { store, counts, clock, log } = this.#deps
    const { instance, destination, conversationId, messageId: message_id } = due
    const now = clock.now()
    const putOff = (where: Parameters<TickStore['postpone']>[1], ms: number) => {
      const pauseMs = Math.min(Math.max(ms, error.retryAfterMs ?? 0), longestTickPauseMs)
      return store.postpone(instance, where, now, now + pauseMs)
    }
    if (error.failure === 'flood') return putOff({ destination, conversationId }, floodMs)
    if (error.failure === 'gone') {
      await store.settle(instance, parts)
      counts.ended(instance, parts, 'no_conv')
      return
    }
    log.warn({ err: error, instance, message_id }, 'the status of a message could not be set at the helpdesk')
    const isLasting = error.failure === 'destination' || error.failure === 'transient'
    const ageMs = now - Math.max(...parts.map(({ reportedAt }) => reportedAt))
    const isGivenUp = !isLasting || ageMs > giveUpMs
    if (isGivenUp) await store.settle(instance, parts)
    else await putOff(error.failure === 'destination' ? { destination } : { destination, conversationId }, tryAgainMs)
    counts.failed(instance, parts)
    if (isGivenUp) counts.ended(instance, parts, 'ds_error')
  }
}
