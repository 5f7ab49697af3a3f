// Decides whether a message is sent again. It asks the helpdesk: after the agent pressed Retry, the helpdesk shows the message
// as sent.

import { DownstreamError } from '../../../core/downstream.ts'
import type { Destination, Downstream } from '../../../core/downstream.ts'
import type { InstanceName } from '../../../core/ids.ts'
import { waitingLifetimeMs } from '../../../core/outbox.ts'
import type { OutboxPart } from '../../../core/outbox.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { RetryStore } from '../../../storage/stores/messages/retry-store.ts'
import type { FailureReporter } from '../queue/failure-reporter.ts'
import type { OutboxWorker } from '../queue/outbox-worker.ts'
import type { SendingAccounts } from '../send/sending-accounts.ts'

const askAgainMs = 5000
const batchSize = 20
const unanswered = 'the helpdesk did not say whether the message is to be sent again: try again'

type Deps = {
  store: Pick<RetryStore, 'asked' | 'askLater' | 'retry' | 'leaveAlone' | 'refuseRetry'>
  downstream: Pick<Downstream, 'helpdesk'>
  /** Null when the helpdesk inbox of the row is not in use any more. Rejects with a DownstreamError. */
  destinationOf: (row: OutboxRow) => Promise<Destination | null>
  reporter: Pick<FailureReporter, 'due'>
  worker: Pick<OutboxWorker, 'submit'>
  accounts: Pick<SendingAccounts, 'isReady'>
  clock: Clock
  log: Log
}

export class Retries {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Decides on all requests that are due. */
  async run(): Promise<void> {
    const { store, clock } = this.#deps
    for (let rows = await store.asked(clock.now(), batchSize); rows.length > 0;) {
      await Promise.all(rows.map((row) => this.#decide(row)))
      rows = rows.length < batchSize ? [] : await store.asked(clock.now(), batchSize)
    }
  }

  async #decide(row: OutboxRow): Promise<void> {
    const { store, worker, reporter, clock } = this.#deps
    const wish = await this.#wishOf(row)
    const now = clock.now()
    if (wish === 'unwanted') await store.leaveAlone(row)
    else if (wish === 'unanswered' && now < (row.expiresAt ?? 0)) await store.askLater(row.id, now + askAgainMs)
    else if (wish === 'wanted' && (await store.retry(row, partsAgain(row.parts), this.#waiting(row.instance), now))) {
      worker.submit(row)
    } else await store.refuseRetry(row, unanswered, reporter.due(clock.now()))
  }

  async #wishOf(row: OutboxRow): Promise<'wanted' | 'unwanted' | 'unanswered'> {
    const { downstream, destinationOf, log } = this.#deps
    const { conversationId, messageId } = row
    if (conversationId === null || messageId === null) return 'unwanted'
    try {
      const destination = await destinationOf(row)
      if (!destination) return 'unwanted'
      const shown = await downstream.helpdesk(destination).findMessage(conversationId, messageId)
      return shown?.status === 'sent' && !shown.isDeleted ? 'wanted' : 'unwanted'
    } catch (err) {
      if (!(err instanceof DownstreamError)) throw err
      log.warn({ err, instance: row.instance, queue_id: row.id }, 'the helpdesk could not be asked about a message')
      return 'unanswered'
    }
  }

  #waiting(instance: InstanceName) {
    const { accounts, clock } = this.#deps
    if (accounts.isReady(instance)) return { isWaiting: false, isDrained: false, expiresAt: null }
    return { isWaiting: true, isDrained: true, expiresAt: clock.now() + waitingLifetimeMs }
  }
}

/** A part that was not sent gets a new id. A part that may have arrived keeps its id, so that the recipient shows it once. */
function partsAgain(parts: readonly OutboxPart[]): OutboxPart[] {
  if (!parts.some(({ state }) => state === 'sent' || state === 'unknown')) return []
  return parts.map((part) =>
    part.state === 'sent' || part.state === 'unknown' ? part : { id: '', of: part.of, state: 'new' },
  )
}
