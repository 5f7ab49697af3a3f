// The pace of imports: one rate for all instances, which take turns, and three messages per second for a conversation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { ImportPace } from './import-pace.ts'

const forever = new AbortController().signal

function paceOf(ratePerSec: number, isBusy: (destination: string) => boolean = () => false) {
  const clock = new ManualClock()
  return { clock, pace: new ImportPace({ clock, ratePerSec, isBusy }) }
}

/** Posts that many messages, one after the other, and notes when. */
async function post(
  { pace, clock }: ReturnType<typeof paceOf>,
  {
    instance,
    conversationId,
    count,
    times,
  }: { instance: string; conversationId: number; count: number; times: string[] },
): Promise<void> {
  for (let n = 0; n < count; n++) {
    await pace.turn({ instance, destination: 'd', conversationId }, forever)
    times.push(`${instance} ${Math.round(clock.monotonic())}`)
  }
}

test('all conversations together get the configured rate', async () => {
  const parts = paceOf(5)
  const times: string[] = []
  for (const conversationId of [1, 2, 3]) void post(parts, { instance: 'a', conversationId, count: 10, times })
  await parts.clock.advance(0)
  await parts.clock.advance(1999)
  assert.equal(times.length, 10)
})

test('a conversation gets at most three messages per second', async () => {
  const parts = paceOf(1000)
  const times: string[] = []
  void post(parts, { instance: 'a', conversationId: 1, count: 50, times })
  await parts.clock.advance(9999)
  assert.equal(times.length, 30)
})

test('instances take turns, independent of the number of their conversations', async () => {
  const parts = paceOf(4)
  const times: string[] = []
  for (const conversationId of [1, 2, 3, 4]) void post(parts, { instance: 'a', conversationId, count: 50, times })
  for (const conversationId of [5, 6]) void post(parts, { instance: 'b', conversationId, count: 50, times })
  await parts.clock.advance(9999)
  assert.equal(times.length, 40)
  // The first turn was given before the other instance came.
  assert.equal(times.filter((time) => time.startsWith('b')).length, 19)
})

test('an instance that cannot use its turn does not hold up the others', async () => {
  const parts = paceOf(10)
  const times: string[] = []
  void post(parts, { instance: 'slow', conversationId: 1, count: 100, times })
  for (const conversationId of [2, 3, 4, 5]) void post(parts, { instance: 'b', conversationId, count: 100, times })
  await parts.clock.advance(9999)
  assert.ok(times.length >= 95, `${times.length} turns`)
})

test('a caller that stops waiting loses no turn of the others', async () => {
  const { pace, clock } = paceOf(1)
  const turn = (conversationId: number, signal: AbortSignal) =>
    pace.turn({ instance: 'a', destination: 'd', conversationId }, signal)
  await turn(1, forever)
  const stop = new AbortController()
  const stopped = assert.rejects(turn(2, stop.signal), { message: 'stop' })
  const last = turn(3, forever)
  stop.abort(new Error('stop'))
  await stopped
  await clock.advance(1000)
  await last
  await assert.rejects(turn(4, stop.signal), { message: 'stop' })
})

test('messages of the history wait while live messages are posted, but not for ever', async () => {
  const busy = { value: true }
  const parts = paceOf(5, () => busy.value)
  const times: string[] = []
  void post(parts, { instance: 'a', conversationId: 1, count: 2, times })
  await parts.clock.advance(5000)
  assert.deepEqual(times, [])
  busy.value = false
  await parts.clock.advance(100)
  assert.deepEqual(times, ['a 5100'])
  busy.value = true
  await parts.clock.advance(15_000)
  assert.equal(times.length, 2)
})
