// An open loop: work arrives by the clock, however long earlier work takes. So the time that it waits counts too.

import { setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from '../../sim/network/seeded-random.ts'

/** So many a second on average, at moments that do not depend on each other. */
export type Arrivals = { perSecond: number; count: number }

const steps = 2 ** 32

/** Calls `work` at each arrival with the moment that it was due. Resolves to how late each call was, in milliseconds. */
export async function atArrivals({ perSecond, count }: Arrivals, work: (dueAt: number) => void): Promise<number[]> {
  const random = new SeededRandom(`${count} arrivals`)
  const late: number[] = []
  let dueAt = performance.now()
  for (let n = 0; n < count; n++) {
    dueAt -= (Math.log((random.below(steps) + 1) / steps) * 1000) / perSecond
    for (let waitMs = dueAt - performance.now(); waitMs > 0; waitMs = dueAt - performance.now()) await sleep(waitMs)
    late.push(performance.now() - dueAt)
    work(dueAt)
  }
  return late
}
