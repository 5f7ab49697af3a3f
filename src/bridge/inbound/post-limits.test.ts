import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PostLimits } from './post-limits.ts'

const origin = 'http://desk'

test('a file that gives up waiting for its destination frees its place among the uploads', async () => {
  const limits = new PostLimits()
  const never = new AbortController().signal
  const full = { destination: 'full', origin }
  for (let place = 0; place < 16; place++) await limits.enter(full, false, never)
  for (let attempt = 0; attempt < 20; attempt++) {
    const waiting = new AbortController()
    const entered = limits.enter(full, true, waiting.signal)
    waiting.abort(new Error('the instance stops'))
    await assert.rejects(entered, /stops/)
  }
  const other = { destination: 'other', origin }
  const places = await Promise.all(
    Array.from({ length: 8 }, () => limits.enter(other, true, AbortSignal.timeout(5000))),
  )
  for (const leave of places) leave()
})
