// Rows between being stored and being answered. When the helpdesk is told that a message was refused, its row must not be
// sent, even if the database stored it after all. Such a row is withdrawn as soon as the database allows it. Another node that
// got the callback may have accepted it meanwhile: then the row is sent.

import type { InstanceName, RowId } from '../../../core/ids.ts'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { NewOutboxRow, OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { PlannedLooks } from '../queue/planned-looks.ts'

type Deps = {
  outbox: Pick<OutboxStore, 'find'>
  transitions: Pick<OutboxTransitions, 'withdraw'>
  looks: Pick<PlannedLooks, 'after'>
  /** The instance has a row that will be sent after all. */
  queue: (instance: InstanceName) => Promise<void>
  clock: Clock
  log: Log
}

type RefusedRow = Pick<NewOutboxRow, 'id' | 'instance'>

// A commit that was never confirmed can become visible later.
const doubtMs = 60_000
const lateReason = writeReason('storedTooLate')
const couldNotWithdraw = 'refused messages that may be stored could not be taken back yet'

export class UndecidedRows implements PerInstance {
  readonly #deps: Deps
  readonly #undecided = new Set<RowId>()
  /** Rows whose messages were refused and that may be stored. They may become visible until that time. */
  readonly #refused = new Map<RowId, { instance: InstanceName; until: number }>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether a stored row must not be sent yet, or never. */
  has(id: RowId): boolean {
    return this.#undecided.has(id) || this.#refused.has(id)
  }

  /** The row is undecided until `deciding` ends. */
  async while<T>(id: RowId, deciding: () => Promise<T>): Promise<T> {
    this.#undecided.add(id)
    try {
      return await deciding()
    } finally {
      this.#undecided.delete(id)
    }
  }

  /** The helpdesk is told that the message failed. The row is withdrawn now, or when the database is available again. */
  async refuse({ id, instance }: RefusedRow): Promise<void> {
    this.#refused.set(id, { instance, until: this.#deps.clock.monotonic() + doubtMs })
    await this.#try([{ id, instance }])
  }

  /** True when the row is withdrawn: its callback may be accepted again. */
  async reopen({ id }: Pick<RefusedRow, 'id'>): Promise<boolean> {
    const refused = this.#refused.get(id)
    if (refused) return (await this.#settle({ id, instance: refused.instance })) !== 'kept'
    // It may have been withdrawn since the caller read it.
    const row = await this.#deps.outbox.find(id)
    return row !== undefined && isWithdrawn(row)
  }

  /** Tries again to withdraw refused rows, of all instances or of one. */
  async run(of?: InstanceName): Promise<void> {
    const rows = [...this.#refused].map(([id, { instance }]) => ({ id, instance }))
    await this.#try(of === undefined ? rows : rows.filter(({ instance }) => instance === of))
  }

  /** The last try: the next holder of the instance would send the rows that are left. */
  rest(instance: InstanceName): Promise<void> {
    return this.run(instance)
  }

  leave(instance: InstanceName): void {
    for (const [id, refused] of [...this.#refused]) if (refused.instance === instance) this.#refused.delete(id)
  }

  /** The last try: the next process would send the rows that are left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.run()
  }

  async #try(rows: readonly RefusedRow[]): Promise<void> {
    const tried = await Promise.allSettled(rows.map((row) => this.#settle(row)))
    const [err, ...more] = tried.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []))
    if (err) this.#deps.log.error({ err, count: 1 + more.length }, couldNotWithdraw)
  }

  async #settle(row: RefusedRow): Promise<'withdrawn' | 'kept' | 'not stored'> {
    const { id, instance } = row
    try {
      const end = await this.#end(row)
      if (end !== 'not stored' || this.#isOver(id)) this.#refused.delete(id)
      if (end === 'kept') this.#queue(instance)
      return end
    } catch (error) {
      // The holder of the instance may have sent the row.
      if (error instanceof NotHeldError) this.#refused.delete(id)
      throw error
    }
  }

  /** A failure does no harm: the rows of an instance are looked through every few seconds. */
  #queue(instance: InstanceName): void {
    this.#deps.queue(instance).catch((err: unknown) => {
      this.#deps.log.warn({ err, instance }, 'a message that is sent after all could not be queued yet')
    })
  }

  #isOver(id: RowId): boolean {
    return this.#deps.clock.monotonic() >= (this.#refused.get(id)?.until ?? 0)
  }

  /** Withdraws the row. It is kept when another node has answered its callback. */
  async #end(refused: RefusedRow): Promise<'withdrawn' | 'kept' | 'not stored'> {
    const { outbox, transitions, looks } = this.#deps
    const { id, instance } = refused
    const row = await outbox.find(id)
    if (!row) return 'not stored'
    if (!isUnanswered(row)) return isWithdrawn(row) ? 'withdrawn' : 'kept'
    const withdraw = (lookAt: number) => transitions.withdraw(instance, id, lateReason, lookAt)
    // A row that could not be withdrawn has just changed.
    return (await looks.after(id, withdraw)) ? 'withdrawn' : this.#end(refused)
  }
}

/** Whether the callback of the row may be accepted again. */
export function isWithdrawn({ status, reason }: Pick<OutboxRow, 'status' | 'reason'>): boolean {
  return status === 'refused' && reason === lateReason
}

function isUnanswered({ status, shown }: OutboxRow): boolean {
  return (status === 'pending' || status === 'sending') && shown === 'unsure'
}
