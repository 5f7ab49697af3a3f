import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { CellStarter } from './cell-starter.ts'

const second = 1000
const minute = 60 * second

function setUp() {
  const clock = new ManualClock()
  const logs = new RecordedLog()
  const starts: PromiseWithResolvers<undefined>[] = []
  const start = () => {
    const begun = Promise.withResolvers<undefined>()
    starts.push(begun)
    return begun.promise
  }
  const starter = new CellStarter({ start, clock, log: logs.log })
  const fail = async () => {
    starter.start()
    starts.at(-1)?.reject(new Error('no memory'))
    await clock.advance(10 * second)
  }
  return { clock, logs, starts, starter, fail }
}

describe('the start of cells', () => {
  test('one starts at a time, and the next one when placement has seen that it joined', async () => {
    const { clock, starts, starter } = setUp()
    starter.start()
    starter.start()
    assert.equal(starts.length, 1)
    starts[0]?.resolve(undefined)
    await clock.advance(2999)
    starter.start()
    assert.equal(starts.length, 1)
    await clock.advance(1)
    starter.start()
    assert.equal(starts.length, 2)
  })

  test('after three failures in a row suspects wait for no cell, and ten minutes later they do again', async () => {
    const { clock, logs, starts, starter, fail } = setUp()
    await fail()
    await fail()
    assert.equal(starter.isPossible, true)
    await fail()
    assert.equal(starter.isPossible, false)
    starter.start()
    assert.equal(starts.length, 3)
    assert.equal(logs.withMessage('a cell for suspect instances could not be started').length, 3)
    await clock.advance(10 * minute - 10 * second)
    assert.equal(starter.isPossible, true)
    starter.start()
    assert.equal(starts.length, 4)
  })

  test('a start that succeeds makes earlier failures count no more', async () => {
    const { clock, starts, starter, fail } = setUp()
    await fail()
    await fail()
    starter.start()
    starts.at(-1)?.resolve(undefined)
    await clock.advance(3 * second)
    await fail()
    assert.equal(starter.isPossible, true)
  })
})
