import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { orAbort } from './abort.ts'

test('the promise settles first and its listener is removed', async () => {
  const { signal } = new AbortController()
  assert.equal(await orAbort(Promise.resolve(1), signal), 1)
  await assert.rejects(orAbort(Promise.reject(new Error('broken')), signal), /broken/)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('an abort rejects with the reason of the caller or of the signal', async () => {
  const stop = new AbortController()
  const never = new Promise<never>(() => undefined)
  const withReason = orAbort(never, stop.signal, () => new Error('the connection has ended'))
  const without = orAbort(never, stop.signal)
  stop.abort(new Error('stopped'))
  await assert.rejects(withReason, /the connection has ended/)
  await assert.rejects(without, /stopped/)
})

test('a signal that has aborted before rejects at once', async () => {
  await assert.rejects(orAbort(Promise.resolve(1), AbortSignal.abort(new Error('stopped'))), /stopped/)
})
