// Limits how many rows stay in memory over all queues. Above the limit an item keeps only its id.

import type { QueueItem } from './item-list.ts'

export class RowCache<Row> {
  readonly #max: number
  #count = 0

  constructor(max: number) {
    this.#max = max
  }

  keep({ id, row }: QueueItem<Row>): QueueItem<Row> {
    if (row === null || this.#count >= this.#max) return { id, row: null }
    this.#count++
    return { id, row }
  }

  /** The items are in no queue any more. */
  release(items: readonly QueueItem<Row>[]): void {
    for (const { row } of items) if (row !== null) this.#count--
  }
}
