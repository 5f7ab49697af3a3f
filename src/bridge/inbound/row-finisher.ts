// Ends the work on an inbox row: removes the row, counts the result, and logs one line.

import type { Chat } from '../../core/address.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import { factsOfEvent, subjectOfEvent } from '../../core/trace/traces.ts'
import type { StepFacts, Traces } from '../../core/trace/traces.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Statement } from '../../storage/engine/statement.ts'
import type { InboxRow, InboxStore } from '../../storage/stores/messages/inbox-store.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { PostOutcome } from '../posting/exactly-once-poster.ts'
import { resultKindOf } from './inbound-metrics.ts'
import type { InboundMetrics, RealtimeResult } from './inbound-metrics.ts'

type Deps = {
  inbox: Pick<InboxStore, 'remove' | 'removeStep' | 'awaitFileStep'>
  metrics: Pick<InboundMetrics, 'accepted' | 'countResult' | 'duplicate' | 'passedOver'>
  /** Called when the helpdesk has a message of this chat. Must not throw and must return quickly. */
  onShown?: ChatShown | undefined
  holdOf: HoldOf
  traces: Pick<Traces, 'note'>
  clock: Clock
  log: Log
}

export type ChatShown = (instance: InstanceName, chat: Chat, destination: DestinationKey) => void

/** What is known of a message that was posted, for the log. */
type PostedFacts = { conversation?: number; message?: number | null; attempts?: number; bytes?: number | undefined }

type Posted = { outcome: PostOutcome['outcome']; destination: DestinationKey }

export class RowFinisher {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The chat is not bridged. */
  async ignore(row: InboxRow): Promise<void> {
    this.#deps.metrics.passedOver(row.instance, 'ignored chat')
    await this.finish(row, 'filtered')
  }

  /** Nothing was posted. */
  async finish(row: InboxRow, result: RealtimeResult): Promise<void> {
    const { inbox, holdOf, metrics } = this.#deps
    await inbox.remove(holdOf(row.instance), row.id)
    metrics.countResult(row.instance, resultKindOf(row.event), result)
    this.#log(row, { result })
  }

  /** How the row ends in the commit that stores its message as posted. */
  endStep({ id }: InboxRow, { awaitsFile = false }: { awaitsFile?: boolean }): Statement {
    const { inbox } = this.#deps
    return awaitsFile ? inbox.awaitFileStep(id) : inbox.removeStep(id)
  }

  /** The helpdesk has the message. The poster removes the row of a message that it has posted. */
  async finishPosted(row: InboxRow, { outcome, destination }: Posted, facts: PostedFacts): Promise<void> {
    const { inbox, holdOf, metrics, onShown } = this.#deps
    const { id, instance, event } = row
    const result = outcome === 'posted' ? 'ok' : 'duplicate'
    if (outcome === 'duplicate') await inbox.remove(holdOf(instance), id)
    if (outcome === 'duplicate') metrics.duplicate(instance, event.kind)
    // A direct message was counted when it was sent.
    else if (event.kind !== 'message' || !event.isDirect) metrics.accepted(instance)
    metrics.countResult(instance, resultKindOf(event), result)
    this.#log(row, { result, ...facts })
    onShown?.(instance, event.chat, destination)
  }

  #log({ instance, event, receivedAt }: InboxRow, facts: PostedFacts & { result: RealtimeResult }): void {
    const { clock, log, traces } = this.#deps
    const { kind, fromMe, chat } = event
    const about = { instance, kind, content: event.kind === 'message' ? event.content.type : undefined }
    const ms = clock.now() - receivedAt
    log.info({ ...about, from_me: fromMe, chat: chat.kind, ...facts, ms }, 'message from the network handled')
    const { result: outcome, attempts: attempt, bytes } = facts
    const known: StepFacts = { ...factsOfEvent(instance, event), outcome, attempt, bytes }
    traces.note({ subject: subjectOfEvent(instance, event), name: 'shown', facts: known }, receivedAt)
  }
}
