// Tells the helpdesk which messages were not sent, so that the agent sees it and can ask again.

import { DownstreamError } from '../../../core/downstream.ts'
import type { Destination, Downstream, DownstreamFailure } from '../../../core/downstream.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'

// When a callback is refused, the helpdesk writes the HTTP status as the reason. Our reason must come after that.
const afterAnswerMs = 1000
const retryMs = 30_000
const undecidedMs = 5000
const giveUpMs = 24 * 3_600_000
const batchSize = 20
const hopeless: ReadonlySet<DownstreamFailure> = new Set(['permanent', 'unexplained', 'gone'])

type Report = 'due' | 'done' | 'given_up'

type Deps = {
  outbox: Pick<OutboxStore, 'ofMessage'>
  transitions: Pick<OutboxTransitions, 'dueReports' | 'saveReport'>
  downstream: Pick<Downstream, 'helpdesk'>
  /** Null when the helpdesk inbox of the row is not in use any more. Rejects with a DownstreamError. */
  destinationOf: (
    row: Pick<OutboxRow, 'instance' | 'ownerTag' | 'inboxId' | 'destination'>,
  ) => Promise<Destination | null>
  clock: Clock
  log: Log
  /** Starts `run` in the background. */
  wake: () => void
}

export class FailureReporter {
  readonly #deps: Deps
  readonly #timers = new Set<() => void>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Plans a report and returns its time. */
  due(now: number): number {
    this.#later(() => {
      this.#deps.wake()
    })
    return now + afterAnswerMs
  }

  async run(): Promise<void> {
    const { transitions, clock } = this.#deps
    for (let rows = await transitions.dueReports(clock.now(), batchSize); rows.length > 0;) {
      await Promise.all(rows.map((row) => this.#report(row)))
      rows = rows.length < batchSize ? [] : await transitions.dueReports(clock.now(), batchSize)
    }
  }

  /** For a refused message without a row. Tried once, after the callback was answered. */
  tellLater(destination: Destination, conversationId: number, messageId: number, reason: string): void {
    this.#later(() => {
      const { downstream, log } = this.#deps
      downstream
        .helpdesk(destination)
        .setStatus(conversationId, messageId, 'failed', reason)
        .catch((err: unknown) => {
          log.warn({ err, message_id: messageId }, 'the helpdesk could not be told why a message was refused')
        })
    })
  }

  [Symbol.dispose](): void {
    for (const cancel of this.#timers) cancel()
  }

  #later(work: () => void): void {
    const cancel = this.#deps.clock.after(afterAnswerMs, () => {
      this.#timers.delete(cancel)
      work()
    })
    this.#timers.add(cancel)
  }

  async #report(row: OutboxRow): Promise<void> {
    const { transitions, clock, log } = this.#deps
    const { id, instance, settledAt } = row
    let report: Report
    let pauseMs = undecidedMs
    try {
      report = await this.#tell(row)
    } catch (err) {
      log.warn({ err, instance, queue_id: id }, 'the helpdesk could not be told of a failed message')
      const isHopeless = err instanceof DownstreamError && hopeless.has(err.failure)
      pauseMs = retryMs
      report = isHopeless || clock.now() - (settledAt ?? 0) > giveUpMs ? 'given_up' : 'due'
    }
    await transitions.saveReport(id, report, clock.now() + (report === 'due' ? pauseMs : 0))
  }

  /** When a newer row has accepted the same message, the outcome of that row decides what the helpdesk shows. */
  async #tell(row: OutboxRow): Promise<Report> {
    const { outbox, downstream, destinationOf } = this.#deps
    const { id, conversationId, messageId } = row
    const destination = await destinationOf(row)
    if (conversationId === null || messageId === null || !destination) return 'given_up'
    const helpdesk = downstream.helpdesk(destination)
    const newest = await outbox.ofMessage(destination.key, messageId)
    if (newest === undefined || newest.id === id) {
      await helpdesk.setStatus(conversationId, messageId, 'failed', row.reason ?? 'not sent')
      return 'done'
    }
    if (newest.status === 'pending' || newest.status === 'sending') return 'due'
    if (newest.status !== 'sent') return 'given_up'
    await helpdesk.setStatus(conversationId, messageId, 'sent')
    return 'done'
  }
}
