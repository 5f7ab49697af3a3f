import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { Database } from './database.ts'
import type { Engine, StatementResult } from './engine/statement.ts'

class SilentEngine implements Engine {
  readonly questions: PromiseWithResolvers<StatementResult[]>[] = []

  write(): Promise<StatementResult[]> {
    const question = Promise.withResolvers<StatementResult[]>()
    this.questions.push(question)
    return question.promise
  }

  read(): Promise<never[]> {
    return Promise.resolve([])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}

test('callers of ping share one question, apart from the requests', async () => {
  const [requests, vital, clock] = [new SilentEngine(), new SilentEngine(), new ManualClock()]
  const database = new Database('postgres', requests, vital)
  const pings = Array.from({ length: 100 }, () => assert.rejects(database.ping(clock, 2000), /no answer within 2000/))
  await clock.advance(2000)
  await Promise.all(pings)
  const late = [database.ping(clock, 2000), database.ping(clock, 2000)]
  assert.deepEqual([requests.questions.length, vital.questions.length], [0, 1])
  vital.questions[0]?.resolve([])
  await Promise.all(late)
  const next = database.ping(clock, 2000)
  assert.equal(vital.questions.length, 2)
  vital.questions[1]?.resolve([])
  await next
})
