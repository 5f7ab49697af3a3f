// The two parts that write in batches: what comes while a batch is stored, and what storage refuses, is stored later.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LastMessageTimes, StateChange } from '../core/live.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { LastMessages } from './last-messages.ts'
import { StateHistory } from './state-history.ts'

/** A store whose writes end when the test says so. */
class Stored<Batch> {
  readonly batches: Batch[] = []
  #answer = Promise.withResolvers<undefined>()

  write(batch: Batch): Promise<undefined> {
    this.batches.push(batch)
    return this.#answer.promise
  }

  async answer(failure?: Error): Promise<void> {
    const { resolve, reject } = this.#answer
    this.#answer = Promise.withResolvers()
    if (failure) reject(failure)
    else resolve(undefined)
    await Promise.resolve()
  }
}

function openHistory() {
  const clock = new ManualClock()
  const stored = new Stored<readonly StateChange[]>()
  let count = 0
  const history = new StateHistory({
    store: {
      add: (changes) => stored.write(changes),
      // As stored: by their times.
      since: () => Promise.resolve(stored.batches.flat().toSorted((one, other) => one.at - other.at)),
      prune: () => Promise.resolve(),
    },
    newId: () => String(++count),
    clock,
  })
  const seen = (state: StateChange['state'], isRepeated = false, reason = 'why') => {
    history.changed({ instance: 'a', state, reason, isRepeated })
  }
  const batches = () => stored.batches.map((batch) => batch.map(({ state }) => state))
  return { clock, stored, history, seen, batches }
}

describe('the history of states', () => {
  test('stores what changes while a batch is stored with the next batch', async () => {
    const { stored, history, seen, batches } = openHistory()
    seen('connecting')
    const first = history.flush()
    await Promise.resolve()
    seen('connected')
    await stored.answer()
    await first
    const second = history.flush()
    await Promise.resolve()
    await stored.answer()
    await second
    assert.deepEqual(batches(), [['connecting'], ['connected']])
  })

  test('repeats a batch that storage refused, under the same ids', async () => {
    const { stored, history, seen } = openHistory()
    seen('connecting')
    const first = history.flush()
    await Promise.resolve()
    await stored.answer(new Error('away'))
    await assert.rejects(first, /away/)
    seen('ready')
    const second = history.flush()
    await Promise.resolve()
    await stored.answer()
    await second
    assert.deepEqual(
      stored.batches.map((batch) => batch.map(({ id }) => id)),
      [['1'], ['1', '2']],
    )
  })

  test('leaves out repeated attempts and states that did not change', async () => {
    const { stored, history, seen, batches } = openHistory()
    seen('disconnected')
    seen('connecting')
    seen('disconnected', true)
    for (let n = 0; n < 100; n++) {
      seen('connecting', true)
      seen('disconnected', true)
    }
    seen('connected')
    const done = history.flush()
    await Promise.resolve()
    await stored.answer()
    await done
    assert.deepEqual(batches(), [['disconnected', 'connecting', 'disconnected', 'connected']])
  })

  test('tells the changes in the order in which they happened, also after the clock went back', async () => {
    const { clock, stored, history, seen } = openHistory()
    const start = clock.now()
    seen('connecting')
    await clock.advance(1000)
    seen('ready')
    clock.set(3_599_000)
    seen('disconnected')
    clock.set(-3_595_000)
    seen('ready')
    const read = history.since('a', 0)
    await Promise.resolve()
    await stored.answer()
    assert.deepEqual(
      (await read).map(({ state, at }) => [state, at - start]),
      [
        ['connecting', 0],
        ['ready', 1000],
        ['disconnected', 5000],
        ['ready', 5000],
      ],
    )
  })

  test('of an account that changes while storage is away for long keeps the newest changes', async () => {
    const { stored, history, seen } = openHistory()
    for (let n = 0; n < 10_001; n++) {
      seen('connecting')
      seen('ready', false, 'x'.repeat(1000))
    }
    const done = history.flush()
    await Promise.resolve()
    await stored.answer()
    await done
    const [batch = []] = stored.batches
    assert.deepEqual([batch.length, batch.at(-1)?.id, batch.at(-1)?.reason.length], [20_000, '20002', 300])
  })
})

describe('the last messages', () => {
  const open = () => {
    const clock = new ManualClock()
    const stored = new Stored<ReadonlyMap<string, LastMessageTimes>>()
    const before = { inAt: 5, outAt: 6 }
    const store = {
      find: () => Promise.resolve(before),
      put: (times: ReadonlyMap<string, LastMessageTimes>) => stored.write(times),
    }
    return { clock, stored, before, last: new LastMessages({ store, clock }) }
  }

  test('are unknown until a message comes, or what was stored', async () => {
    const { last, clock, before } = open()
    assert.deepEqual(last.of('a'), { inAt: null, outAt: null })
    await last.take('a')
    assert.deepEqual(last.of('a'), before)
    last.note('a', 'in')
    assert.deepEqual(last.of('a'), { inAt: clock.now(), outAt: 6 })
    last.note('b', 'out')
    assert.deepEqual(last.of('b'), { inAt: null, outAt: clock.now() })
  })

  test('are stored again when a message comes while they are stored, or when storage refuses', async () => {
    const { last, clock, stored } = open()
    last.note('a', 'in')
    const first = last.flush()
    await Promise.resolve()
    await clock.advance(10)
    last.note('a', 'out')
    await stored.answer()
    await first
    const second = last.flush()
    await Promise.resolve()
    await stored.answer(new Error('away'))
    await assert.rejects(second, /away/)
    const third = last.flush()
    await Promise.resolve()
    await stored.answer()
    await third
    const fourth = last.flush()
    await Promise.resolve()
    await stored.answer()
    await fourth
    assert.deepEqual(
      stored.batches.map((batch) => batch.size),
      [1, 1, 1, 0],
    )
    assert.equal(stored.batches[2]?.get('a')?.outAt, clock.now())
  })
})
