// Rows between being stored and being answered. When the helpdesk is told that a message was refused, its row must not be
// sent, even if the database stored it after all. Such a row is withdrawn as soon as the database allows it.

import type { InstanceName, RowId } from '../../../core/ids.ts'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { PlannedLooks } from '../queue/planned-looks.ts'

type Deps = {
  transitions: Pick<OutboxTransitions, 'withdraw'>
  looks: Pick<PlannedLooks, 'after'>
  clock: Clock
  log: Log
}

type RefusedRow = Pick<NewOutboxRow, 'id' | 'instance'>

// A commit that was never confirmed can become visible later.
const doubtMs = 60_000
const lateReason = writeReason('storedTooLate')

export class UndecidedRows {
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
    await this.#tryWithdraw({ id, instance })
  }

  /** True when the row was refused and is withdrawn: its callback may be accepted again. */
  async withdraw(id: RowId): Promise<boolean> {
    const refused = this.#refused.get(id)
    if (!refused) return false
    await this.#withdraw({ id, instance: refused.instance })
    this.#refused.delete(id)
    return true
  }

  /** Tries again to withdraw refused rows. */
  async run(): Promise<void> {
    for (const [id, { instance }] of [...this.#refused]) await this.#tryWithdraw({ id, instance })
  }

  /** The last try: the next process would send the rows that are left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.run()
  }

  async #tryWithdraw(row: RefusedRow): Promise<void> {
    const { id } = row
    try {
      const isWithdrawn = await this.#withdraw(row)
      if (isWithdrawn || this.#isOver(id)) this.#refused.delete(id)
    } catch (err) {
      // The process may get the instance back. After that time the row is left to the holder of the instance.
      if (err instanceof NotHeldError && this.#isOver(id)) this.#refused.delete(id)
      this.#deps.log.error({ err, queue_id: id }, 'a refused message that may be stored could not be taken back yet')
    }
  }

  #isOver(id: RowId): boolean {
    return this.#deps.clock.monotonic() >= (this.#refused.get(id)?.until ?? 0)
  }

  #withdraw({ id, instance }: RefusedRow): Promise<boolean> {
    const { transitions, looks } = this.#deps
    return looks.after(id, (lookAt) => transitions.withdraw(instance, id, lateReason, lookAt))
  }
}
