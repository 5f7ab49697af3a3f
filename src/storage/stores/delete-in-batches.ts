// Removes many rows in batches: another write then waits for one batch, not for all of them.

/**
 * A full batch means that more rows may be left. A row of a table with many indexes takes about 25 µs, and no message is to wait for
 * more than a few milliseconds.
 */
export const batchSize = 100

/** `remove` removes at most one batch of `size` and returns how many rows it was. Returns how many rows were removed in all. */
export async function deleteInBatches(remove: () => Promise<number>, size = batchSize): Promise<number> {
  let all = 0
  for (;;) {
    const removed = await remove()
    all += removed
    if (removed < size) return all
  }
}
