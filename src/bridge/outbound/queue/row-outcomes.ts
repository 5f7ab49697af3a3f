// How rows of the outbox end other than by being sent, and who is told what becomes of a row.

import type { Clock } from '../../../lib/clock.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { LiveRow, OpenOutboxRow, OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import { failureReason } from '../send/failure-reason.ts'
import type { FailureReporter } from './failure-reporter.ts'
import type { OutboundMetrics } from '../send/outbound-metrics.ts'

const timeOver = 'the account was not connected for 5 minutes'

/** What is known of a row when somebody can be told. */
export type RowOutcome =
  { kind: 'sent'; waid: string } | { kind: 'failed'; reason: string } | { kind: 'waiting' } | { kind: 'cancelled' }

export type OutcomeListener = (fate: RowOutcome) => void

type Deps = {
  outbox: Pick<OutboxStore, 'open'>
  transitions: Pick<OutboxTransitions, 'fail' | 'expire' | 'due'>
  reporter: Pick<FailureReporter, 'due'>
  ledger: Pick<OutboundMetrics, 'lost' | 'expired'>
  clock: Clock
}

export class RowOutcomes {
  readonly #deps: Deps
  readonly #listeners = new Map<string, OutcomeListener>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  listen(id: string, listener: OutcomeListener): void {
    this.#listeners.set(id, listener)
  }

  stopListening(id: string): void {
    this.#listeners.delete(id)
  }

  notify(id: string, fate: RowOutcome): void {
    this.#listeners.get(id)?.(fate)
    if (fate.kind !== 'waiting') this.#listeners.delete(id)
  }

  async fail(row: OutboxRow & Partial<Pick<OpenOutboxRow, 'payload'>>, reason: string): Promise<void> {
    const { transitions, clock, ledger, reporter } = this.#deps
    const now = clock.now()
    if (await transitions.fail(row, reason, now, reporter.due(now))) {
      for (const part of row.parts.length > 0 ? row.parts : [undefined]) {
        if (part?.state !== 'sent') ledger.lost(row, row.remote_jid, kindOf(row, part?.of))
      }
      this.notify(row.id, { kind: 'failed', reason })
    } else this.notify(row.id, { kind: 'cancelled' })
  }

  async failAll(rows: readonly LiveRow[], reason: string): Promise<void> {
    for (const { id } of rows) {
      const row = await this.#deps.outbox.open(id)
      if (row) await this.fail(row, reason)
    }
  }

  /** Ends what has waited too long for a connection; `settled` hears of each. */
  async expire(instance: string, settled: (row: OutboxRow) => void): Promise<void> {
    const { transitions, outbox, clock, ledger, reporter } = this.#deps
    const now = clock.now()
    for (const row of await transitions.due(instance, now)) {
      const payload = (await outbox.open(row.id))?.payload
      const reason = failureReason(row.parts, timeOver)
      if (row.unconfirmed === 1) await this.fail({ ...row, ...(payload && { payload }) }, reason)
      else if (await transitions.expire(row, reason, now)) {
        if (payload?.type === 'message') ledger.expired(row, payload.content)
        reporter.due(now)
        this.notify(row.id, { kind: 'failed', reason })
      }
      settled(row)
    }
  }
}

function kindOf(
  row: Partial<Pick<OpenOutboxRow, 'payload'>>,
  of: string | number | undefined,
): 'text' | 'media' | 'revoke' {
  if (row.payload?.type === 'revoke') return 'revoke'
  return typeof of === 'number' || (row.payload?.attachments.length ?? 0) > 0 ? 'media' : 'text'
}
