// Answers a callback within the time that the helpdesk waits. A message that has no outcome by then is answered as queued.

import type { InstanceName, Jid } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import { ignoreRejection } from '../../../lib/ignore.ts'
import type { Log } from '../../../lib/log.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { OutcomeListener, RowOutcome, RowOutcomes } from '../queue/row-outcomes.ts'
import type { SendingAccounts } from '../send/sending-accounts.ts'
import type { Seen, SendAnswer } from './send-answer.ts'

// The webhook handler answers 500 by itself that long after the deadline.
const lateMs = 200

/** Once the deadline is over, the helpdesk has been told that the message failed. */
export type Deadline = { isOver: boolean; leftMs: () => number }

/** A stored row that will be sent, and its first outcome. */
export type Accepted = { row: NewOutboxRow; outcome: Promise<RowOutcome>; address: Jid } & Seen

type Deps = {
  outbox: Pick<OutboxStore, 'find'>
  outcomes: Pick<RowOutcomes, 'stopListening'>
  accounts: Pick<SendingAccounts, 'isNearlyReady'>
  clock: Clock
  log: Log
}

export class AnswerInTime {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Answers after `withinMs` at the latest. The work on an accepted message goes on in the background. */
  async within(withinMs: number, accept: (deadline: Deadline) => Promise<Accepted | SendAnswer>): Promise<SendAnswer> {
    const { clock } = this.#deps
    const endsAt = clock.monotonic() + withinMs
    const late = Promise.withResolvers<undefined>()
    const deadline: Deadline = { isOver: withinMs <= 0, leftMs: () => endsAt - clock.monotonic() }
    const cancel = clock.after(withinMs, () => {
      deadline.isOver = true
      late.resolve(undefined)
    })
    try {
      const accepting = accept(deadline)
      accepting.catch(ignoreRejection)
      const accepted = await Promise.race([accepting, late.promise])
      if (!accepted) return { kind: 'late' }
      if (!('row' in accepted)) return this.#timed(accepted, endsAt)
      return this.#timed(await this.#answerOf(accepted, late.promise), endsAt)
    } finally {
      cancel()
    }
  }

  /** The listener for a row, and the first outcome that is worth an answer. */
  listen(instance: InstanceName): { listener: OutcomeListener; outcome: Promise<RowOutcome> } {
    const { accounts } = this.#deps
    const first = Promise.withResolvers<RowOutcome>()
    const listener = (outcome: RowOutcome) => {
      // An account that is about to be ready may still send the message in time.
      if (outcome.kind !== 'waiting' || !accounts.isNearlyReady(instance)) first.resolve(outcome)
    }
    return { listener, outcome: first.promise }
  }

  /** After a late answer it is not known what the helpdesk shows. */
  #timed(answer: SendAnswer, endsAt: number): SendAnswer {
    if (answer.kind !== 'sent' && answer.kind !== 'queued') return answer
    return { ...answer, isInTime: this.#deps.clock.monotonic() < endsAt + lateMs }
  }

  async #answerOf({ row, outcome, address, hasUnread }: Accepted, late: Promise<undefined>): Promise<SendAnswer> {
    const { outcomes } = this.#deps
    const taken = { queueId: row.id, instance: row.instance, address, hasUnread }
    try {
      const known = await Promise.race([outcome, late])
      if (known?.kind === 'sent') return { kind: 'sent', ...taken, waid: known.waid }
      if (known?.kind === 'failed') return { kind: 'refused', reason: known.reason }
      const expiresAt = known && (await Promise.race([this.#expiryOf(row), late]))
      return { kind: 'queued', ...taken, expiresAt: expiresAt === undefined ? row.expiresAt : expiresAt }
    } finally {
      outcomes.stopListening(row.id)
    }
  }

  /** As stored by now. The message will be sent, so a failure to read this does not matter. */
  async #expiryOf({ id, expiresAt }: NewOutboxRow): Promise<number | null> {
    const { outbox, log } = this.#deps
    try {
      const row = await outbox.find(id)
      return row ? row.expiresAt : expiresAt
    } catch (err) {
      log.warn({ err, queue_id: id }, 'when a queued message expires could not be read')
      return expiresAt
    }
  }
}
