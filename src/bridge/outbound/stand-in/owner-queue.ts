// Takes the place of the queue for an instance that another node holds: the row is stored, and its owner is told.

import type { InstanceName } from '../../../core/ids.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxWorker } from '../queue/outbox-worker.ts'
import type { OutcomeListener } from '../queue/row-outcomes.ts'

/** The owner has new rows of the instance. Best effort: it also looks by itself. */
export type TellOwner = (instance: InstanceName) => void

export class OwnerQueue implements Pick<OutboxWorker, 'startPrepared' | 'submit' | 'drop'> {
  readonly #tell: TellOwner

  constructor(tell: TellOwner) {
    this.#tell = tell
  }

  /** Nothing is sent from here. */
  startPrepared(): undefined {
    return undefined
  }

  submit({ instance }: Pick<NewOutboxRow, 'instance'>, listener?: OutcomeListener): void {
    this.#tell(instance)
    listener?.({ kind: 'waiting' })
  }

  /** The owner finds that the row has ended when it comes to the row. */
  drop(): void {
    return
  }
}
