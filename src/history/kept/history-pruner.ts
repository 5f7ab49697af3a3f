// Removes kept history that no import will use: it is too old, or its instance was deleted.

import type { InstanceName } from '../../core/ids.ts'
import type { NodeHold } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import { batchSize, deleteInBatches } from '../../storage/stores/delete-in-batches.ts'
import type { HistoryRemoval } from '../../storage/stores/history/history-removal.ts'
import { keptMs } from './kept-history.ts'

type Deps = { store: HistoryRemoval; nodeHold: () => NodeHold; clock: Pick<Clock, 'now'> }

export class HistoryPruner {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async run(): Promise<void> {
    const { store, nodeHold, clock } = this.#deps
    await deleteInBatches(() => store.prune(nodeHold(), clock.now() - keptMs, batchSize))
    for (const instance of await store.orphans()) await this.forget(instance)
  }

  /** Removes the history of a deleted instance. */
  async forget(instance: InstanceName): Promise<void> {
    const { store, nodeHold } = this.#deps
    await deleteInBatches(() => store.dropInstance(nodeHold(), instance, batchSize))
  }
}
