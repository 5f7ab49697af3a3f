import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { CallbackAges } from './callback-ages.ts'

const inbox = 'desk|1|1'

function stageOf({ skewMs = 0 } = {}) {
  const clock = new ManualClock()
  const ages = new CallbackAges({ maxAgeMs: 5000, clock })
  /** The age of a callback that was sent, and whose message was written, so long ago. */
  const hear = (sentMsAgo: number | null, writtenMsAgo: number | null = null) => {
    const there = clock.now() - skewMs
    const sentAt = sentMsAgo === null ? null : Math.floor((there - sentMsAgo) / 1000) * 1000
    return ages.ageOf(inbox, { sentAt, writtenAt: writtenMsAgo === null ? null : there - writtenMsAgo })
  }
  return { clock, hear }
}

for (const skewMs of [0, 90_000, -90_000]) {
  test(`the age of a callback does not depend on clocks that differ by ${skewMs} ms`, () => {
    const { hear } = stageOf({ skewMs })
    assert.equal(hear(0).sentMsAgo, 0)
    assert.equal(hear(7000).sentMsAgo, 7000)
    assert.deepEqual(hear(0, 3000), { sentMsAgo: 0, writtenMsAgo: 3000 })
  })
}

test('without the time of the callback, its message is as old as the clocks say, and later as old as usual', () => {
  const { hear } = stageOf()
  assert.deepEqual(hear(null, 3000), { sentMsAgo: null, writtenMsAgo: 3000 })
  const { hear: hearAhead } = stageOf({ skewMs: 60_000 })
  assert.equal(hearAhead(null, 0).writtenMsAgo, 60_000)
  assert.equal(hearAhead(null, 0).writtenMsAgo, 0)
  assert.equal(hearAhead(null, 2000).writtenMsAgo, 2000)
})

test('a hundred callbacks that waited in the socket are all old', () => {
  const { hear } = stageOf()
  hear(0)
  const ages = Array.from({ length: 300 }, (_, n) => hear(40_000 - 100 * n).sentMsAgo)
  assert.ok(ages.every((age) => age !== null && age > 5000))
})

test('a clock that was set makes callbacks look old for a minute only', async () => {
  const { hear, clock } = stageOf()
  hear(0)
  assert.equal(hear(30_000).sentMsAgo, 30_000)
  await clock.advance(61_000)
  assert.equal(hear(30_000).sentMsAgo, 0)
  assert.equal(hear(30_000).sentMsAgo, 0)
})

test('the difference of a slow callback is forgotten after a hundred others', () => {
  const { hear } = stageOf()
  hear(0)
  for (let n = 0; n < 100; n++) hear(3000)
  assert.equal(hear(3000).sentMsAgo, 0)
})
