// Ends the threads for long texts, as a machine does that is short of memory.

import type { Worker } from 'node:worker_threads'

let running: Worker | undefined
process.on('worker', (worker) => {
  if (worker.threadName === 'texts') running = worker
})

/** Ends the thread for texts, and every other one that starts until the returned object is disposed of. Counts those. */
export async function endTextThreads(): Promise<Disposable & { count: number }> {
  await running?.terminate()
  const end = (worker: Worker) => {
    if (worker.threadName !== 'texts') return
    ended.count++
    void worker.terminate()
  }
  process.on('worker', end)
  const ended = { count: 0, [Symbol.dispose]: () => void process.off('worker', end) }
  return ended
}
