// Draws random bytes for many callers at once: a few bytes cost as much as a thousand.

import { randomBytes } from 'node:crypto'

const drawnBytes = 4096

let drawn = Buffer.alloc(0)
let used = 0

/** Bytes that no other caller gets. At most 4096. */
export function drawRandomBytes(count: number): Buffer {
  if (count > drawnBytes) throw new RangeError(`at most ${drawnBytes} bytes are drawn at once`)
  if (used + count > drawn.length) {
    drawn = randomBytes(drawnBytes)
    used = 0
  }
  const window = drawn.subarray(used, used + count)
  // Not from Node's pool: the secret of a message lives long, and would keep the whole pool.
  const bytes = Buffer.alloc(count)
  window.copy(bytes)
  // What was drawn is kept by its caller alone.
  window.fill(0)
  used += count
  return bytes
}
