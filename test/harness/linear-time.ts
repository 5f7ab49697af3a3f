// Checks that a function takes time in proportion to the length of its text.

import assert from 'node:assert/strict'

const short = 12_500
const times = 16

/** Sixteen times the length takes about 16 times as long, or 256 times if the work is quadratic. */
export function assertLinear(convert: (text: string) => unknown, piece: string): void {
  const small = piece.repeat(Math.ceil(short / piece.length))
  const smallMs = Math.max(2, Math.min(...[1, 2, 3].map(() => msOf(convert, small))))
  const largeMs = msOf(convert, small.repeat(times))
  const allowed = smallMs * times * 4
  assert.ok(
    largeMs < allowed,
    `${JSON.stringify(piece)}: ${smallMs} ms became ${largeMs} ms for ${times} times the length`,
  )
}

/** The time of the processor, which other processes do not change. */
function msOf(convert: (text: string) => unknown, text: string): number {
  const before = process.threadCpuUsage()
  convert(text)
  return process.threadCpuUsage(before).user / 1000
}
