import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DestinationKey } from '../../core/ids.ts'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { LostCallbacks } from './lost-callbacks.ts'

const access = { baseUrl: 'https://desk.example/x', apiToken: 't0ken', accountId: 1, inboxId: 7 }
const destination = { ...access, key: 'inbox-7' as DestinationKey }
const failure = { reason: 'Connection refused', advice: 'check the webhook URL' }
const warning = 'the helpdesk cannot deliver its callbacks'

async function open() {
  const clock = new ManualClock()
  const logs = new RecordedLog()
  const lost = new LostCallbacks({ clock, log: logs.log })
  await clock.advance(1000)
  return { clock, logs, lost }
}

test('a failed callback is listed by the place of its destination, with one warning for each reason', async () => {
  const { clock, logs, lost } = await open()
  const since = clock.now()
  lost.noteSign(destination, { at: since, failure, failedId: null })
  await clock.advance(60_000)
  lost.noteSign(destination, { at: clock.now(), failure, failedId: null })
  assert.deepEqual(lost.list(), [{ destination: 'https://desk.example|1|7', ...failure, since }])
  assert.equal(logs.withMessage(warning).length, 1)
  lost.noteSign(destination, { at: clock.now(), failure: { ...failure, reason: '401 Unauthorized' }, failedId: null })
  assert.deepEqual(lost.list()[0]?.reason, '401 Unauthorized')
  assert.equal(logs.withMessage(warning).length, 2)
  assert.doesNotMatch(logs.lines.join(''), /t0ken/)
})

test('a callback ends it, and so does a newer message that did not fail; an older one does not', async () => {
  const { clock, lost } = await open()
  const other = { ...destination, key: 'inbox-8' as DestinationKey }
  lost.noteSign(destination, { at: clock.now(), failure, failedId: null })
  lost.heard(other.key)
  lost.noteSign(destination, { at: clock.now() - 1, failure: null, failedId: null })
  assert.equal(lost.list().length, 1)
  lost.noteSign(destination, { at: clock.now() + 1, failure: null, failedId: null })
  assert.deepEqual(lost.list(), [])
  lost.noteSign(destination, { at: clock.now() + 2, failure, failedId: null })
  lost.heard(destination.key)
  assert.deepEqual(lost.list(), [])
})

test('a failure from before the start, or from before the last callback, does not count', async () => {
  const { clock, logs, lost } = await open()
  lost.noteSign(destination, { at: clock.now() - 60_000, failure, failedId: null })
  lost.heard(destination.key)
  lost.noteSign(destination, { at: clock.now() - 1, failure, failedId: null })
  assert.deepEqual([lost.list(), logs.withMessage(warning)], [[], []])
})

test('a wait for the next callback ends with it, after its time, or when the caller gives up', async () => {
  const { clock, lost } = await open()
  const { signal } = new AbortController()
  const heard = lost.next(destination.key, 5000, signal)
  lost.heard('inbox-8' as DestinationKey)
  await clock.advance(4999)
  lost.heard(destination.key)
  assert.equal(await heard, true)
  const unheard = lost.next(destination.key, 5000, signal)
  await clock.advance(5000)
  assert.equal(await unheard, false)
  const givenUp = new AbortController()
  const waiting = lost.next(destination.key, 5000, givenUp.signal)
  givenUp.abort()
  assert.equal(await waiting, false)
})

test('a failure that no message shows again is forgotten after a day', async () => {
  const { clock, lost } = await open()
  lost.noteSign(destination, { at: clock.now(), failure, failedId: null })
  await clock.advance(24 * 3_600_000 + 1)
  assert.deepEqual(lost.list(), [])
})
