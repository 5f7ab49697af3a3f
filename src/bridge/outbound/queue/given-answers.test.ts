import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import { GivenAnswers } from './given-answers.ts'

function setUp(...failures: (Error | undefined)[]) {
  const clock = new ManualClock()
  const noted: string[] = []
  const noteAnswers = (ids: readonly string[]) => {
    noted.push(ids.join())
    const failure = failures.shift()
    return failure ? Promise.reject(failure) : Promise.resolve()
  }
  return { clock, noted, answers: new GivenAnswers({ store: { noteAnswers }, clock }) }
}

test('answers that could not be stored are stored later', async () => {
  const { answers, clock, noted } = setUp(new Error('away'), undefined)
  answers.note('a')
  await clock.advance(3000)
  await assert.rejects(answers.flush(), /away/)
  await answers.flush()
  await answers.flush()
  assert.deepEqual(noted, ['a', 'a'])
})

test('answers for an instance that another node holds are not stored again and again', async () => {
  const { answers, clock, noted } = setUp(new NotHeldError('shop'), undefined)
  answers.note('a')
  await clock.advance(3000)
  await answers.flush()
  answers.note('b')
  await clock.advance(3000)
  await answers.flush()
  assert.deepEqual(noted, ['a', 'b'])
})
