import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allDuties } from '../../../test/harness/duties.ts'
import { PostLimits } from './post-limits.ts'

const origin = 'http://desk'

test('a file that gives up waiting for its destination frees its place among the uploads', async () => {
  const limits = new PostLimits(allDuties)
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

test('a destination is busy while several live messages are posted there, but not with messages of the history', async () => {
  const limits = new PostLimits(allDuties)
  const never = new AbortController().signal
  const where = { destination: 'desk', origin }
  for (let place = 0; place < 8; place++) await limits.enter(where, false, never, true)
  assert.equal(limits.isBusy('desk'), false)
  const leaves: (() => void)[] = []
  for (let place = 0; place < 3; place++) leaves.push(await limits.enter(where, false, never))
  assert.equal(limits.isBusy('desk'), false)
  for (let place = 3; place < 8; place++) leaves.push(await limits.enter(where, false, never))
  // Two more wait for a place.
  const waiting = new AbortController()
  const late = [limits.enter(where, false, waiting.signal), limits.enter(where, false, waiting.signal)]
  assert.equal(limits.isBusy('desk'), true)
  assert.equal(limits.isBusy('another'), false)
  waiting.abort(new Error('the instance stops'))
  for (const entered of late) await assert.rejects(entered, /stops/)
  for (const leave of leaves) leave()
  assert.equal(limits.isBusy('desk'), false)
})

test('messages of the history leave places free for live messages and for their files', async () => {
  const limits = new PostLimits(allDuties)
  const where = { destination: 'desk', origin }
  const stop = new AbortController()
  const past = Array.from({ length: 40 }, (_, index) => limits.enter(where, index % 2 === 0, stop.signal, true))
  const live = Array.from({ length: 4 }, (_, index) => limits.enter(where, index < 2, AbortSignal.timeout(5000)))
  for (const leave of await Promise.all(live)) leave()
  stop.abort(new Error('the job stops'))
  for (const entered of await Promise.allSettled(past)) if (entered.status === 'fulfilled') entered.value()
  assert.equal(limits.isBusy('desk'), false)
})

test('messages of the history that give up waiting leave no place taken', async () => {
  const limits = new PostLimits(allDuties)
  const where = { destination: 'desk', origin }
  const never = new AbortController().signal
  const live = await Promise.all(Array.from({ length: 16 }, () => limits.enter(where, false, never)))
  for (let attempt = 0; attempt < 20; attempt++) {
    const waiting = new AbortController()
    const entered = limits.enter(where, false, waiting.signal, true)
    waiting.abort(new Error('the instance stops'))
    await assert.rejects(entered, /stops/)
  }
  for (const leave of live) leave()
  for (let place = 0; place < 8; place++) await limits.enter(where, false, AbortSignal.timeout(5000), true)
})

test('nodes share the places of a helpdesk inbox, and one that is left alone has all of them', async () => {
  let sharers = 4
  const limits = new PostLimits({ sharers: () => sharers })
  const { signal } = new AbortController()
  const leaves: (() => void)[] = []
  for (let post = 0; post < 20; post++) {
    void limits.enter({ destination: 'desk', origin }, false, signal).then((leave) => leaves.push(leave))
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  await turn()
  assert.equal(leaves.length, 4)
  sharers = 1
  leaves[0]?.()
  await turn()
  assert.equal(leaves.length, 17, 'one has left, and 16 are inside')
  sharers = 8
  for (const leave of leaves.slice(1, 16)) leave()
  await turn()
  assert.equal(leaves.length, 18, 'two are inside')
})
