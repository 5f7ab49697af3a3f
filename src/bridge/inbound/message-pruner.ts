// Removes records of messages that are old, or whose instance was deleted.

import type { InstanceName } from '../../core/ids.ts'
import type { NodeHold } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import type { InboxStore } from '../../storage/stores/messages/inbox-store.ts'
import type { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import { batchSize, deleteInBatches } from '../../storage/stores/delete-in-batches.ts'

type Deps = {
  inbox: Pick<InboxStore, 'dropOrphans'>
  map: Pick<MessageMapStore, 'prune' | 'prunedAtOnce' | 'orphans' | 'dropInstance'>
  nodeHold: () => NodeHold
  clock: Clock
  /** How long the record of a message is kept. */
  messageMapTtlMs: number
}

export class MessagePruner {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async run(): Promise<void> {
    const { inbox, map, nodeHold, clock, messageMapTtlMs } = this.#deps
    const before = clock.now() - messageMapTtlMs
    await deleteInBatches(() => map.prune(nodeHold(), before), map.prunedAtOnce)
    for (const instance of await map.orphans()) await this.forget(instance)
    await inbox.dropOrphans(nodeHold())
  }

  /** Removes the records of a deleted instance. */
  async forget(instance: InstanceName): Promise<void> {
    const { map, nodeHold } = this.#deps
    await deleteInBatches(() => map.dropInstance(nodeHold(), instance, batchSize))
  }
}
