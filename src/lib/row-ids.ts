// Ids of rows that sort in the order they were given out, also across restarts and when the clock goes back a little.

import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.ts'

const timeDigits = 9
const countDigits = 4
const countLimit = 36 ** countDigits
const endBytes = 3
/** Asking for random bytes costs more than the rest of an id. */
const endsAtOnce = 256

/** One process at a time gives them out; the random end keeps two that overlap apart. */
export function createRowIds(clock: Pick<Clock, 'now'>): () => string {
  let time = 0
  let count = 0
  let ends = Buffer.alloc(0)
  const end = () => {
    if (ends.length === 0) ends = randomBytes(endBytes * endsAtOnce)
    const next = ends.toString('hex', 0, endBytes)
    ends = ends.subarray(endBytes)
    return next
  }
  return () => {
    const now = Math.trunc(clock.now())
    count = now > time || count + 1 === countLimit ? 0 : count + 1
    time = Math.max(now, count === 0 && now <= time ? time + 1 : time)
    const digits = (value: number, length: number) => value.toString(36).padStart(length, '0')
    return digits(time, timeDigits) + digits(count, countDigits) + end()
  }
}
