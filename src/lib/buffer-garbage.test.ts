// Runs alone: it measures the memory of its process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteBufferGarbage } from './buffer-garbage.ts'

const megabyte = 1024 * 1024
const chunkBytes = megabyte / 16

/** How far the buffers of this process grow while so many bytes pass in chunks that are not kept. */
async function growth(bytes: number, spent: (bytes: number) => void): Promise<number> {
  const before = process.memoryUsage().arrayBuffers
  let most = before
  for (let passed = 0; passed < bytes; passed += chunkBytes) {
    const { length } = Buffer.allocUnsafeSlow(chunkBytes).fill(1)
    spent(length)
    most = Math.max(most, process.memoryUsage().arrayBuffers)
    if (passed % megabyte === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return most - before
}

test('used buffers do not pile up, and would without the report', async () => {
  const paced = await growth(256 * megabyte, noteBufferGarbage)
  // Buffers are swept in the background, which a busy machine does a little later.
  assert.ok(paced < 32 * megabyte, `${paced} bytes lay there`)
  const left = await growth(256 * megabyte, () => undefined)
  assert.ok(left > 40 * megabyte, `${left} bytes lay there`)
  assert.equal(globalThis.gc, undefined)
})
