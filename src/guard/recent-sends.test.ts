import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { RecentSend } from '../storage/stores/messages/recent-send-store.ts'
import { BanRisk } from './ban-risk.ts'
import { Pace } from './pace.ts'
import { RecentSends } from './recent-sends.ts'

const second = 1000
const own = '5511999990001@s.whatsapp.net'

function setUp(sends: readonly Omit<RecentSend, 'settledAt'>[], agoMs: number, linkedAgoMs = Infinity) {
  const clock = new ManualClock()
  const limits = { of: () => ({ perMinute: 2, warmup: null }) }
  const pace = new Pace({ limits, drainPerSecond: 0, clock, random: () => 0.5 })
  const banRisk = new BanRisk({ clock })
  let reads = 0
  const since = (at: number) => {
    reads += 1
    const settledAt = clock.now() - agoMs
    return Promise.resolve(settledAt < at ? [] : sends.map((send) => ({ ...send, settledAt })))
  }
  const linkedSince = () => clock.now() - linkedAgoMs
  const recent = new RecentSends({ store: { since }, pace, banRisk, ownJid: () => own, linkedSince, clock })
  return { clock, pace, banRisk, recent, reads: () => reads }
}

const send = (instance: string, recipient = 'x', sent = 1, refused = 0) => ({ instance, recipient, sent, refused })

test('messages of the last minute count for the pace, until the minute is over', async () => {
  const { clock, pace, recent } = setUp([send('a'), send('a'), send('b')], 50 * second)
  await recent.take('a')
  await recent.take('b')
  assert.deepEqual([pace.isExhausted('a'), pace.isExhausted('b')], [true, false])
  await clock.advance(10 * second)
  assert.equal(pace.isExhausted('a'), false)
})

test('messages of the last ten minutes count for the risk, each part on its own, those to the own phone not', async () => {
  const { banRisk, pace, recent } = setUp([send('a', 'x', 2, 1), send('a', 'y'), send('a', own)], 200 * second)
  await recent.take('a')
  const { velocity, diversity, samples, ratio } = banRisk.snapshot('a')
  assert.deepEqual({ velocity, diversity, samples, ratio }, { velocity: 0, diversity: 2, samples: 4, ratio: 3 / 4 })
  assert.equal(pace.isExhausted('a'), false)
})

test('an alert that was risen before is not announced again', async () => {
  const people = Array.from({ length: 21 }, (_, index) => send('a', `person ${index}`))
  const { banRisk, recent } = setUp(people, 10 * second)
  await recent.take('a')
  assert.deepEqual(banRisk.snapshot('a').alerts, ['burst_outreach'])
  assert.deepEqual(banRisk.record('a', 'one more', true), [])
})

test('accounts that are taken together share one reading, and older messages do not count', async () => {
  const { banRisk, recent, reads } = setUp([send('a'), send('b')], 601 * second)
  await Promise.all(['a', 'b', 'c'].map((name) => recent.take(name)))
  assert.equal(reads(), 1)
  assert.deepEqual(banRisk.instances(), [])
})

test('messages of a deleted instance do not count for a new one of the same name', async () => {
  const { banRisk, pace, recent } = setUp([send('a'), send('a')], 10 * second, 5 * second)
  await recent.take('a')
  assert.deepEqual([pace.isExhausted('a'), banRisk.instances()], [false, []])
})
