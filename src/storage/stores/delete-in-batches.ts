// Many rows are removed a thousand at a time: on SQLite whoever writes meanwhile waits for one bite, not for all of them.

/** More is left when a bite is full. */
export const batchSize = 1000

/** `remove` takes away at most a bite and says how many rows it was; how many it were together. */
export async function deleteInBatches(remove: () => Promise<number>): Promise<number> {
  let all = 0
  for (;;) {
    const removed = await remove()
    all += removed
    if (removed < batchSize) return all
  }
}
