import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { CapacityWatch } from './capacity-watch.ts'

function setUp() {
  const clock = new ManualClock()
  const stored: string[] = []
  const state = { id: 'n1' as string | undefined, loopDelayP99Ms: 900, isDown: false, isDeaf: false, isBeating: true }
  const setCapacity = (id: string, capacity: number) => {
    if (state.isDown) return Promise.reject(new Error('the database is away'))
    stored.push(`${id} ${capacity}`)
    return state.isDeaf ? Promise.reject(new Error('the answer is lost')) : Promise.resolve()
  }
  const watch = new CapacityWatch({
    nodes: { setCapacity },
    id: () => state.id,
    isBeating: () => state.isBeating,
    capacity: 100,
    sample: () => ({ loopDelayP99Ms: state.loopDelayP99Ms, beatMs: 5 }),
    ...{ clock, log: silentLog },
  })
  return { clock, stored, state, watch }
}

test('a slow node stores a lower capacity, and its own one after ten quiet minutes', async () => {
  const { clock, stored, state, watch } = setUp()
  await using running = watch
  running.start()
  await clock.advance(10_000)
  assert.deepEqual(stored, [])
  await clock.advance(1_000)
  assert.deepEqual(stored, ['n1 75'])
  await clock.advance(10_000)
  assert.deepEqual(stored, ['n1 75', 'n1 56'])
  state.loopDelayP99Ms = 10
  await clock.advance(600_000)
  assert.deepEqual(stored, ['n1 75', 'n1 56', 'n1 100'])
})

test('a loop whose turns take longer than a look waits is slow, although the samples miss them', async () => {
  const { clock, stored, state, watch } = setUp()
  await using running = watch
  running.start()
  state.loopDelayP99Ms = 0
  for (let turn = 0; turn < 10; turn++) {
    clock.freeze(1_600)
    await clock.advance(0)
  }
  assert.deepEqual(stored, ['n1 75'])
})

test('a node whose beats fail is not taken for slow, and begins anew afterwards', async () => {
  const { clock, stored, state, watch } = setUp()
  await using running = watch
  running.start()
  await clock.advance(5_000)
  state.isBeating = false
  await clock.advance(60_000)
  state.isBeating = true
  await clock.advance(9_000)
  assert.deepEqual(stored, [])
  await clock.advance(2_000)
  assert.deepEqual(stored, ['n1 75'])
})

test('what could not be stored is stored later', async () => {
  const { clock, stored, state, watch } = setUp()
  await using running = watch
  running.start()
  state.isDown = true
  await clock.advance(15_000)
  state.isDown = false
  await clock.advance(1_000)
  assert.deepEqual(stored, ['n1 75'])
})

test('a process that joins again under a new id is as slow as before', async () => {
  const { clock, stored, state, watch } = setUp()
  await using running = watch
  running.start()
  await clock.advance(11_000)
  state.id = undefined
  state.loopDelayP99Ms = 10
  await clock.advance(5_000)
  state.id = 'n2'
  await clock.advance(1_000)
  assert.deepEqual(stored, ['n1 75', 'n2 75'])
})

test('a capacity that was stored without an answer is taken back too', async () => {
  const { clock, stored, state, watch } = setUp()
  await using running = watch
  running.start()
  await clock.advance(10_000)
  state.isDeaf = true
  await clock.advance(1_000)
  state.id = undefined
  state.isDeaf = false
  state.loopDelayP99Ms = 10
  await clock.advance(600_000)
  state.id = 'n1'
  await clock.advance(1_000)
  assert.deepEqual(stored, ['n1 75', 'n1 100'])
})
