// Ends rows that will not be sent, and tells the listener of a row what became of it.

import type { InstanceName, RowId } from '../../../core/ids.ts'
import { hasFiles, wordsOf } from '../../../core/outbox.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { LiveRow, OpenOutboxRow, OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import { failureReason } from '../send/failure-reason.ts'
import type { OutboundMetrics } from '../send/outbound-metrics.ts'
import type { PlannedLooks } from './planned-looks.ts'

const timeOver = writeReason('disconnectedTooLong')

export type RowOutcome =
  { kind: 'sent'; waid: string } | { kind: 'failed'; reason: string } | { kind: 'waiting' } | { kind: 'cancelled' }

export type OutcomeListener = (outcome: RowOutcome) => void

type Deps = {
  outbox: Pick<OutboxStore, 'open'>
  transitions: Pick<OutboxTransitions, 'fail' | 'expire' | 'due'>
  looks: Pick<PlannedLooks, 'after'>
  metrics: Pick<OutboundMetrics, 'lost' | 'expired'>
  clock: Clock
}

export class RowOutcomes {
  readonly #deps: Deps
  readonly #listeners = new Map<RowId, OutcomeListener>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  listen(id: RowId, listener: OutcomeListener): void {
    this.#listeners.set(id, listener)
  }

  stopListening(id: RowId): void {
    this.#listeners.delete(id)
  }

  /** A row that waits can have further outcomes. */
  notify(id: RowId, outcome: RowOutcome): void {
    this.#listeners.get(id)?.(outcome)
    if (outcome.kind !== 'waiting') this.#listeners.delete(id)
  }

  async fail(row: OutboxRow & Partial<Pick<OpenOutboxRow, 'payload'>>, reason: string): Promise<void> {
    const { transitions, clock, metrics, looks } = this.#deps
    if (await looks.after(row.id, (lookAt) => transitions.fail(row, reason, clock.now(), lookAt))) {
      for (const part of row.parts.length > 0 ? row.parts : [undefined]) {
        if (part?.state !== 'sent') metrics.lost(row, row.remoteJid, kindOf(row, part?.of))
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

  /** Ends rows that have waited too long for a connection, and calls `onEnded` for each. */
  async expire(instance: InstanceName, onEnded: (row: OutboxRow) => void): Promise<void> {
    const { transitions, outbox, clock, metrics, looks } = this.#deps
    const now = clock.now()
    for (const row of await transitions.due(instance, now)) {
      const payload = (await outbox.open(row.id))?.payload
      const reason = failureReason(row.parts, timeOver)
      if (row.isUnconfirmed) await this.fail({ ...row, ...(payload && { payload }) }, reason)
      else if (await looks.after(row.id, () => transitions.expire(row, reason, now))) {
        if (payload && payload.type !== 'revoke') metrics.expired(row, wordsOf(payload).content)
        this.notify(row.id, { kind: 'failed', reason })
      }
      onEnded(row)
    }
  }
}

function kindOf(
  { payload }: Partial<Pick<OpenOutboxRow, 'payload'>>,
  of: string | number | undefined,
): 'text' | 'media' | 'revoke' {
  if (payload?.type === 'revoke') return 'revoke'
  return typeof of === 'number' || (payload && hasFiles(payload)) ? 'media' : 'text'
}
