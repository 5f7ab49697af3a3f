// Creates ids like ULIDs: time in base 36, a counter and random characters. They sort in the order of creation, also across
// restarts and when the clock goes back.

import type { Clock } from './clock.ts'
import { createRandomDigits } from './random/random-digits.ts'

const timeDigits = 9
const countDigits = 4
const endDigits = 6
const countLimit = 36 ** countDigits
const idForm = /^[0-9a-z]{13}[0-9a-f]{6}$/

/** The random end tells apart the ids that two processes create at the same time. */
export function createRowIds(clock: Pick<Clock, 'now'>): () => string {
  const takeEnd = createRandomDigits(endDigits)
  let time = 0
  let count = 0
  return () => {
    const now = Math.trunc(clock.now())
    count = now > time || count + 1 === countLimit ? 0 : count + 1
    time = Math.max(now, count === 0 && now <= time ? time + 1 : time)
    const digits = (value: number, length: number) => value.toString(36).padStart(length, '0')
    return digits(time, timeDigits) + digits(count, countDigits) + takeEnd()
  }
}

/** The first millisecond whose ids all sort after this id; 0 for a text that is no id. */
export function msAfter(id: string): number {
  if (!idForm.test(id)) return 0
  return Number.parseInt(id.slice(0, timeDigits), 36) + 1
}
