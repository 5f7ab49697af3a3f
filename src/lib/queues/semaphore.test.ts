import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Semaphore } from './semaphore.ts'
import { KeyedLanes } from './keyed-lanes.ts'

const never = new AbortController().signal
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a semaphore admits its limit of callers at once, and the others in order', async () => {
  const gate = new Semaphore(2)
  const inside: number[] = []
  const leave: (() => void)[] = []
  assert.equal(gate.isEmpty, true)
  for (let caller = 0; caller < 4; caller++) {
    void gate.enter(never).then((done) => {
      inside.push(caller)
      leave.push(done)
    })
  }
  await turn()
  assert.deepEqual(inside, [0, 1])
  leave[0]?.()
  leave[0]?.()
  await turn()
  assert.deepEqual(inside, [0, 1, 2], 'leaving twice makes room once')
  leave[1]?.()
  await turn()
  assert.deepEqual(inside, [0, 1, 2, 3])
  assert.equal(gate.isEmpty, false)
  for (const each of leave) each()
  assert.equal(gate.isEmpty, true)
})

test('a place that is passed on cannot be taken by a caller of the same moment', async () => {
  const gate = new Semaphore(1)
  const leave = await gate.enter(never)
  const inside: string[] = []
  const waiting = gate.enter(never).then(() => inside.push('waited'))
  leave()
  void gate.enter(never).then(() => inside.push('came meanwhile'))
  await waiting
  await turn()
  assert.deepEqual(inside, ['waited'])
})

test('a caller that gives up waiting is refused and leaves no gap in the queue', async () => {
  const gate = new Semaphore(1)
  const leave = await gate.enter(never)
  const impatient = new AbortController()
  const refused = assert.rejects(gate.enter(impatient.signal))
  const next = gate.enter(never)
  impatient.abort()
  await refused
  leave()
  assert.equal(typeof (await next), 'function')
})

test('a place goes to the next caller when the first one gives up at that moment', async () => {
  const gate = new Semaphore(1)
  const leave = await gate.enter(never)
  const impatient = new AbortController()
  const refused = assert.rejects(gate.enter(impatient.signal))
  const next = gate.enter(never)
  leave()
  impatient.abort()
  await refused
  assert.equal(typeof (await next), 'function')
})

test('a caller that comes when a place becomes free does not overtake those who wait', async () => {
  const gate = new Semaphore(1)
  const leave = await gate.enter(never)
  const inside: string[] = []
  void gate.enter(never).then(() => inside.push('waited'))
  leave()
  void gate.enter(never).then(() => inside.push('came'))
  await turn()
  assert.deepEqual(inside, ['waited'])
})

test('work of one key runs in order, work of another does not wait, and a failure stops neither', async () => {
  const lanes = new KeyedLanes()
  const gate = Promise.withResolvers<undefined>()
  const done: string[] = []
  const slow = lanes.run('a', async () => {
    await gate.promise
    done.push('a1')
    throw new Error('broken')
  })
  const second = lanes.run('a', () => Promise.resolve(done.push('a2')))
  await lanes.run('b', () => Promise.resolve(done.push('b1')))
  assert.deepEqual(done, ['b1'])
  gate.resolve(undefined)
  await assert.rejects(slow, /broken/)
  await second
  assert.deepEqual(done, ['b1', 'a1', 'a2'])
})
