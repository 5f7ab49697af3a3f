// Counts each receipt once, with what became of it at the helpdesk. Several receipts can share one request to the helpdesk.

import type { InstanceName, RowId } from '../../../core/ids.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import type { TickedPart } from '../../../storage/stores/messages/tick-store.ts'
import type { RealtimeCounts, SyncResults } from '../realtime-counts.ts'

export type ReceiptResult = SyncResults['read_receipt']

type Deps = {
  counts: Pick<RealtimeCounts, 'count'>
  /** A status could not be set. */
  onFailed: (instance: InstanceName) => void
  /** Receipts that were reported before then are not known to this process. */
  startedAt: number
}

export class TickCounts implements PerInstance {
  readonly #deps: Deps
  /** How many receipts of a row wait for the helpdesk. */
  readonly #waiting = new Map<RowId, { instance: InstanceName; receipts: number }>()
  /** Rows whose receipts were counted as failed. Later attempts for them are not counted. */
  readonly #failed = new Map<RowId, InstanceName>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  count(instance: InstanceName, result: ReceiptResult, times = 1): void {
    this.#deps.counts.count(instance, 'read_receipt', result, times)
  }

  /** The receipt has changed the row, and the helpdesk must be told. */
  expect(instance: InstanceName, row: RowId): void {
    const receipts = (this.#waiting.get(row)?.receipts ?? 0) + 1
    this.#waiting.set(row, { instance, receipts })
  }

  /** The receipt has changed nothing. It shares the outcome of the earlier receipts of the row. */
  repeated(instance: InstanceName, row: RowId): void {
    if (this.#waiting.has(row)) this.expect(instance, row)
    else this.count(instance, this.#failed.has(row) ? 'ds_error' : 'ok')
  }

  /** Nothing more will be tried for these parts. */
  ended(instance: InstanceName, parts: readonly TickedPart[], result: ReceiptResult): void {
    this.#outcome(instance, parts, result)
    for (const { id } of parts) this.#failed.delete(id)
  }

  /** An attempt failed, and another one follows. */
  failed(instance: InstanceName, parts: readonly TickedPart[]): void {
    if (this.#outcome(instance, parts, 'ds_error')) this.#deps.onFailed(instance)
    for (const { id } of parts) this.#failed.set(id, instance)
  }

  leave(instance: InstanceName): void {
    for (const [id, waiting] of this.#waiting) if (waiting.instance === instance) this.#waiting.delete(id)
    for (const [id, owner] of this.#failed) if (owner === instance) this.#failed.delete(id)
  }

  /** Whether this is the first outcome. */
  #outcome(instance: InstanceName, parts: readonly TickedPart[], result: ReceiptResult): boolean {
    const isFirst = !parts.some(({ id }) => this.#failed.has(id))
    const earlier = parts.filter(({ tickAt, reportedAt }) => tickAt !== null && reportedAt < this.#deps.startedAt)
    const receipts = parts.reduce((sum, { id }) => sum + (this.#waiting.get(id)?.receipts ?? 0), 0)
    for (const { id } of parts) this.#waiting.delete(id)
    const times = receipts + (isFirst ? earlier.length : 0)
    if (times > 0) this.count(instance, result, times)
    return isFirst
  }
}
