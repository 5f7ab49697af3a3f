import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { ChatQueues } from './chat-queues.ts'
import type { RowEnd, WorkOutcome } from './chat-queues.ts'

type Step = { name: string; row: string | null; signal: AbortSignal; end: (outcome?: WorkOutcome) => Promise<void> }

/** Work that ends when the test says so. */
function setUp(maxCached?: number) {
  const clock = new ManualClock()
  const steps: Step[] = []
  const rested: string[] = []
  const queues = new ChatQueues<string>({
    clock,
    work: (instance, { id, row }, signal) => {
      const ended = Promise.withResolvers<WorkOutcome>()
      const end = async (outcome: WorkOutcome = 'done') => {
        ended.resolve(outcome)
        await clock.advance(0)
      }
      steps.push({ name: `${instance} ${id}`, row, signal, end })
      return ended.promise
    },
    onResting: (ids) => {
      rested.push(ids.join(' '))
    },
    ...(maxCached !== undefined && { maxCached }),
  })
  const names = () => steps.map(({ name }) => name)
  const push = (chatId: string, id: string, instance = 'a') => {
    queues.push(instance, chatId, { id, row: `row ${id}` })
  }
  const insert = (chatId: string, id: string) => {
    queues.insert('a', chatId, { id, row: `row ${id}` })
  }
  const end = (index: number, outcome?: WorkOutcome) => steps[index]?.end(outcome)
  return { clock, queues, steps, rested, names, push, insert, end }
}

test('rows of a chat are worked on one after the other, chats side by side', async () => {
  const { names, push, end, queues } = setUp()
  push('p', '1')
  push('p', '2')
  push('q', '3')
  assert.deepEqual(names(), ['a 1', 'a 3'])
  assert.deepEqual(queues.counts(), { rows: 3, chats: 2, longest: 2 })
  await end(0)
  assert.deepEqual(names(), ['a 1', 'a 3', 'a 2'])
  await end(1)
  await end(2)
  assert.deepEqual(queues.counts(), { rows: 0, chats: 0, longest: 0 })
})

test('an inserted row takes its place by id, a pushed row comes last', async () => {
  const { names, push, insert, end } = setUp()
  insert('p', '1')
  insert('p', '4')
  insert('p', '2')
  push('p', '3')
  for (const index of [0, 1, 2]) await end(index)
  assert.deepEqual(names(), ['a 1', 'a 2', 'a 4', 'a 3'])
})

test('an inserted row takes the place that the caller names', async () => {
  const { names, push, queues, end } = setUp()
  for (const id of ['1', '4', '3']) push('p', id)
  queues.insert('a', 'p', { id: '5', row: null }, (other) => other === '3')
  for (const index of [0, 1, 2]) await end(index)
  assert.deepEqual(names(), ['a 1', 'a 4', 'a 5', 'a 3'])
})

test('the row travels with its id to the first work only', async () => {
  const { steps, push, end, queues } = setUp()
  push('p', '1')
  assert.equal(steps[0]?.row, 'row 1')
  await end(0, 'wait')
  queues.wake('a')
  assert.equal(steps[1]?.row, null)
})

test('above the limit an item keeps only its id, and taken rows make room', async () => {
  const { steps, push, end } = setUp(2)
  for (const id of ['1', '2', '3', '4']) push('p', id)
  for (const index of [0, 1, 2]) await end(index)
  assert.deepEqual(
    steps.map(({ row }) => row),
    ['row 1', 'row 2', 'row 3', null],
  )
})

test('removed and forgotten rows make room in memory', async () => {
  const { steps, push, queues, end } = setUp(1)
  push('p', '1')
  push('p', '2')
  queues.remove('a', '2')
  push('p', '3')
  void queues.leave('a')
  await end(0)
  push('p', '4')
  push('p', '5')
  await end(1)
  assert.deepEqual(
    steps.map(({ row }) => row),
    ['row 1', 'row 4', 'row 5'],
  )
})

test('a row that has to wait keeps its chat waiting until it is woken', async () => {
  const { names, push, end, queues, rested } = setUp()
  push('p', '1')
  push('p', '2')
  await end(0, 'wait')
  assert.deepEqual(rested, ['1 2'])
  queues.wake('a')
  assert.deepEqual(names(), ['a 1', 'a 1'])
  await end(1)
  assert.deepEqual(names(), ['a 1', 'a 1', 'a 2'])
})

test('a wake-up during the work is not lost', async () => {
  const { names, push, end, queues } = setUp()
  push('p', '1')
  queues.wake('a')
  await end(0, 'wait')
  assert.deepEqual(names(), ['a 1', 'a 1'])
})

test('a row that waits for a time is worked on at that time', async () => {
  const { names, push, end, clock } = setUp()
  push('p', '1')
  await end(0, { until: clock.now() + 1000 })
  await clock.advance(999)
  assert.deepEqual(names(), ['a 1'])
  await clock.advance(1)
  assert.deepEqual(names(), ['a 1', 'a 1'])
})

test('a new row makes a resting queue try again', async () => {
  const { names, push, end, clock } = setUp()
  push('p', '1')
  await end(0, { until: clock.now() + 1000 })
  push('p', '2')
  assert.deepEqual(names(), ['a 1', 'a 1'])
  assert.equal(clock.pending, 0)
})

test('an added row waits until its queue is woken', () => {
  const { names, queues } = setUp()
  queues.add('a', 'p', { id: '1', row: null })
  assert.deepEqual(names(), [])
  queues.wake('b')
  assert.deepEqual(names(), [])
  queues.wake('a')
  assert.deepEqual(names(), ['a 1'])
})

test('a chat is free while it has no row', async () => {
  const { push, end, queues } = setUp()
  assert.equal(queues.isFree('a', 'p'), true)
  push('p', '1')
  assert.equal(queues.isFree('a', 'p'), false)
  assert.equal(queues.isFree('b', 'p'), true)
  await end(0, 'wait')
  assert.equal(queues.isFree('a', 'p'), false)
  queues.wake('a')
  await end(1)
  assert.equal(queues.isFree('a', 'p'), true)
})

test('a removed row is not worked on', async () => {
  const { names, push, end, queues } = setUp()
  for (const id of ['1', '2', '3']) push('p', id)
  queues.remove('a', '2')
  assert.deepEqual([...queues.ids('a')], ['1', '3'])
  assert.equal(queues.size('a'), 2)
  await end(0)
  assert.deepEqual(names(), ['a 1', 'a 3'])
})

test('without the row that rests first the next row is worked on', async () => {
  const { names, push, end, queues, clock } = setUp()
  push('p', '1')
  queues.add('a', 'p', { id: '2', row: null })
  await end(0, { until: clock.now() + 1000 })
  queues.remove('a', '1')
  assert.deepEqual(names(), ['a 1', 'a 2'])
  assert.equal(clock.pending, 0)
})

test('a removed row that is being worked on is looked at again instead of resting', async () => {
  const { names, push, end, queues } = setUp()
  push('p', '1')
  queues.remove('a', '1')
  await end(0, 'wait')
  assert.deepEqual(names(), ['a 1', 'a 1'])
})

test('merged chats are one queue in the order of ids, after the work of both', async () => {
  const { names, insert, end, queues } = setUp()
  for (const id of ['1', '4']) insert('p', id)
  for (const id of ['2', '3', '5']) insert('q', id)
  queues.merge('a', 'p', 'q')
  assert.deepEqual(queues.counts(), { rows: 5, chats: 1, longest: 4 })
  await end(0)
  assert.deepEqual(names(), ['a 1', 'a 2'], 'the work of the other chat has not ended')
  await end(1)
  assert.deepEqual(names(), ['a 1', 'a 2', 'a 3'])
  await end(2)
  await end(3)
  assert.deepEqual(names(), ['a 1', 'a 2', 'a 3', 'a 4', 'a 5'])
})

test('rows that were pushed in another order than that of their ids keep their order in merged chats', async () => {
  const { names, push, end, queues } = setUp()
  for (const id of ['1', '6', '4']) push('p', id)
  for (const id of ['2', '5', '7', '3']) push('q', id)
  queues.merge('a', 'p', 'q')
  for (let row = 0; row < 7; row++) await end(row)
  assert.deepEqual(names().join(' '), 'a 1 a 2 a 5 a 6 a 4 a 7 a 3')
})

test('a row that is pushed under the dropped chat waits in the queue of the kept chat', async () => {
  const { names, push, end, queues } = setUp()
  queues.merge('a', 'p', 'q')
  push('p', '1')
  assert.equal(queues.isFree('a', 'q'), false)
  push('q', '2')
  assert.deepEqual([names(), queues.counts().chats], [['a 1'], 1])
  await end(0)
  await end(1)
  assert.deepEqual(names(), ['a 1', 'a 2'])
  assert.ok(queues.isFree('a', 'q'))
})

test('a second merge during the wait for the first one is waited for too', async () => {
  const { names, insert, end, queues } = setUp()
  for (const [chat, id] of [
    ['p', '1'],
    ['q', '2'],
    ['r', '3'],
    ['p', '4'],
  ] as const) {
    insert(chat, id)
  }
  queues.merge('a', 'p', 'q')
  await end(0)
  queues.merge('a', 'p', 'r')
  assert.deepEqual([...queues.ids('a')].sort(), ['2', '3', '4'], 'the rows under way are known')
  await end(1)
  assert.deepEqual(names(), ['a 1', 'a 2', 'a 3'], 'the work of the third chat has not ended')
  await end(2)
  assert.deepEqual(names(), ['a 1', 'a 2', 'a 3', 'a 4'])
})

test('a row that has to wait while its chat is merged waits in the kept chat', async () => {
  const { names, insert, end, queues } = setUp()
  insert('q', '1')
  insert('p', '2')
  queues.merge('a', 'p', 'q')
  await end(0, 'wait')
  await end(1)
  assert.deepEqual(names(), ['a 1', 'a 2', 'a 1'])
  assert.equal(queues.size('a'), 1)
})

test('an instance that leaves takes its rows along and its work is told to end', async () => {
  const { names, push, end, queues, steps } = setUp()
  push('p', '1')
  push('p', '2')
  push('p', '3', 'b')
  let isGone = false
  const leaving = queues.leave('a').then(() => (isGone = true))
  assert.equal(steps[0]?.signal.aborted, true)
  assert.equal(steps[1]?.signal.aborted, false)
  assert.equal(isGone, false)
  await end(0, 'wait')
  await leaving
  assert.deepEqual(names(), ['a 1', 'b 3'])
  assert.deepEqual(queues.counts(), { rows: 1, chats: 1, longest: 1 })
})

test('an instance that comes back waits for its own unfinished work', async () => {
  const { names, push, end, queues } = setUp()
  push('p', '1')
  const leaving = queues.leave('a')
  assert.equal(queues.isFree('a', 'p'), false)
  push('p', '2')
  assert.deepEqual(names(), ['a 1'])
  await end(0)
  await leaving
  assert.deepEqual(names(), ['a 1', 'a 2'])
})

test('the queues of an instance that rests end what is under way, and take up nothing more until it has left', async () => {
  const { names, push, end, queues, rested, steps, clock } = setUp()
  push('p', '1')
  push('p', '2')
  push('q', '3')
  await end(1, { until: clock.now() + 1000 })
  rested.length = 0
  const resting = queues.rest('a')
  assert.equal(queues.isFree('a', 'new'), false)
  push('new', '4')
  assert.equal(steps[0]?.signal.aborted, false)
  await end(0)
  await resting
  queues.wake('a')
  await clock.advance(2000)
  assert.deepEqual(names(), ['a 1', 'a 3'])
  assert.deepEqual(new Set(rested), new Set(['4', '2', '3']), 'what waits is told so')
  await queues.leave('a')
  assert.equal(queues.isFree('a', 'p'), true)
  push('p', '2')
  assert.deepEqual(names(), ['a 1', 'a 3', 'a 2'])
})

test('stopped queues end the work under way and take up nothing more', async () => {
  const { names, push, end, queues, steps, clock } = setUp()
  push('p', '1')
  push('q', '2')
  await end(1, { until: clock.now() + 1000 })
  const stopping = queues.stop()
  push('p', '3')
  queues.wake('a')
  assert.equal(steps[0]?.signal.aborted, true)
  await end(0)
  await stopping
  await clock.advance(2000)
  assert.deepEqual(names(), ['a 1', 'a 2'])
})

test('a long queue stays in order while its taken rows are cut off', async () => {
  const done: string[] = []
  const queues = new ChatQueues<null>({
    clock: new ManualClock(),
    work: (_, { id }) => {
      done.push(id)
      return Promise.resolve('done')
    },
  })
  const ids = Array.from({ length: 2500 }, (_, index) => String(index).padStart(5, '0'))
  for (const id of ids) queues.add('a', 'p', { id, row: null })
  queues.wake('a')
  while (queues.size('a') > 0) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(done, ids)
})

test('the next row is taken up while the end of a row is being stored', async () => {
  const { names, push, end, queues, clock } = setUp()
  const stored = Promise.withResolvers<RowEnd>()
  push('p', '1')
  push('p', '2')
  await end(0, { ending: stored.promise })
  assert.deepEqual(names(), ['a 1', 'a 2'])
  await end(1)
  assert.ok(queues.isFree('a', 'p'))
  assert.deepEqual([queues.size('a'), [...queues.ids('a')]], [1, ['1']])
  stored.resolve('done')
  await clock.advance(0)
  assert.deepEqual([queues.size('a'), [...queues.ids('a')]], [0, []])
})

test('a row whose end could not be stored is worked on again', async () => {
  const { names, steps, push, end, queues } = setUp()
  push('p', '1')
  await end(0, { ending: Promise.resolve('again') })
  assert.deepEqual([names(), steps[1]?.row, queues.size('a')], [['a 1', 'a 1'], null, 1])
  await end(1)
  assert.equal(queues.size('a'), 0)
})

test('an instance has left when the end of its rows is stored', async () => {
  const { push, end, queues, clock } = setUp()
  const stored = Promise.withResolvers<RowEnd>()
  push('p', '1')
  await end(0, { ending: stored.promise })
  let hasLeft = false
  const leaving = queues.leave('a').then(() => (hasLeft = true))
  await clock.advance(0)
  assert.equal(hasLeft, false)
  stored.resolve('again')
  await leaving
  assert.equal(queues.size('a'), 0)
})
