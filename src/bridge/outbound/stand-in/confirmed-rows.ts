// The rows that a stand-in finds stored. The owner may have refused the message because its row was stored too late, and then it
// withdraws the row. A stand-in confirms the row before it answers that the message is accepted: a confirmed row is sent.

import type { RowId } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { ShownStore } from '../../../storage/stores/messages/shown-store.ts'
import { isWithdrawn } from '../accept/undecided-rows.ts'
import type { UndecidedRows } from '../accept/undecided-rows.ts'
import type { TellOwner } from './owner-queue.ts'

type Deps = {
  outbox: Pick<OutboxStore, 'find'>
  shown: Pick<ShownStore, 'confirm'>
  tellOwner: TellOwner
  clock: Pick<Clock, 'now'>
}

// The answer may come too late for the helpdesk, which then shows a failure.
const lookAfterMs = 10_000

export class ConfirmedRows implements Pick<UndecidedRows, 'while' | 'has' | 'reopen' | 'refuse' | 'run'> {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  while<T>(_: RowId, deciding: () => Promise<T>): Promise<T> {
    return deciding()
  }

  /** True when the owner has withdrawn the row: its callback may be accepted again. Otherwise the row stays. */
  async reopen({ id, instance }: Pick<OutboxRow, 'id' | 'instance'>): Promise<boolean> {
    const { outbox, shown, tellOwner, clock } = this.#deps
    if (await shown.confirm(instance, id, clock.now() + lookAfterMs)) {
      tellOwner(instance)
      return false
    }
    const row = await outbox.find(id)
    return row !== undefined && isWithdrawn(row)
  }

  /** Only the owner knows which rows it has not decided on. It does so before it queues what this node stores. */
  has(): boolean {
    return false
  }

  run(): Promise<void> {
    return Promise.resolve()
  }

  /** The owner may be sending the row, so it is not withdrawn. The owner looks what the helpdesk shows of it. */
  refuse(): Promise<void> {
    return Promise.resolve()
  }
}
