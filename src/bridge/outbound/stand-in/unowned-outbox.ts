// Stores messages for instances that another node holds. They are never claimed here: the owner finds them and sends them.

import { BridgeError } from '../../../core/errors.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../../storage/database.ts'
import { existingInstance } from '../../../storage/stores/accounts/existing-instance.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { SettledKey } from '../../../storage/stores/messages/settled-callbacks.ts'

export class UnownedOutbox extends OutboxStore {
  readonly #database: Database

  /** The writes carry the right of the node: the keys of the rows guard them, not the right to an instance. */
  constructor(database: Database, nodeHold: () => NodeHold) {
    super(database, nodeHold, nodeHold)
    this.#database = database
  }

  /** Rejects when the instance does not exist any more. */
  override async enqueue(row: NewOutboxRow, key: SettledKey | null): ReturnType<OutboxStore['enqueue']> {
    const exists = existingInstance(this.#database, row.instance)
    const { stored } = await this.enqueueIf({ conditions: [exists] }, row, key)
    if (stored !== 'stale') return stored
    throw new BridgeError('SERVICE_INSTANCE_NOT_FOUND', `there is no instance ${JSON.stringify(row.instance)}`)
  }
}
