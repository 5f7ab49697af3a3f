// Waits for an amount of time in which the process runs.
//
// A process that stood still has to read what came meanwhile, and Node runs timers before it reads sockets. A timer that ends
// meanwhile would therefore be blind to what came in time. So the time is counted in slices, and a slice that ends late does
// not count.

import type { Clock } from './clock.ts'

const slices = 10
/** A process that is always late does not wait for ever. */
const maxRepeated = 5

/** Runs `work` once after `ms`; the returned function cancels it. */
export function afterRunning(clock: Clock, ms: number, work: () => void): () => void {
  const sliceMs = ms / slices
  let left = slices
  let repeats = maxRepeated
  const startSlice = () => {
    const endsAt = clock.monotonic() + sliceMs
    return clock.after(sliceMs, () => {
      const isLate = clock.monotonic() - endsAt >= sliceMs / 2
      if (isLate && repeats > 0) repeats--
      else left--
      if (left === 0) work()
      else cancel = startSlice()
    })
  }
  let cancel = startSlice()
  return () => {
    cancel()
  }
}
