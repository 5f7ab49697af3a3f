import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PerInstance } from '../core/per-instance.ts'
import { AccountEvents } from './account-events.ts'

type Failures = { take?: Error; leave?: Error }

/** Parts that note each call, and fail as the test says. */
function setUp(failures: Record<string, Failures>) {
  const calls: string[] = []
  const settle = (call: string, failure: Error | undefined) => {
    calls.push(call)
    return failure ? Promise.reject(failure) : Promise.resolve()
  }
  const perInstance = Object.entries(failures).map(([name, { take, leave }]): PerInstance => ({
    take: () => settle(`${name} takes`, take),
    leave: () => settle(`${name} leaves`, leave),
  }))
  const events = new AccountEvents()
  events.connect({ perInstance, onChange: () => undefined, onAnnounced: () => undefined })
  return { calls, events }
}

test('every part leaves an instance, also after one part has failed', async () => {
  const failure = new Error('the counts were not stored')
  const { calls, events } = setUp({ first: {}, second: { leave: failure }, third: {} })
  await assert.rejects(events.leave('a'), failure)
  assert.deepEqual(calls, ['first leaves', 'second leaves', 'third leaves'])
})

test('all failures of parts that leave are reported together', async () => {
  const [one, two] = [new Error('one'), new Error('two')]
  const { events } = setUp({ first: { leave: one }, second: {}, third: { leave: two } })
  await assert.rejects(events.leave('a'), (error) => {
    assert.ok(error instanceof AggregateError)
    assert.deepEqual(error.errors, [one, two])
    return true
  })
})

test('no part keeps an instance that one part could not take', async () => {
  const failure = new Error('storage is away')
  const { calls, events } = setUp({ first: { leave: new Error('also away') }, second: { take: failure }, third: {} })
  await assert.rejects(events.take('a'), failure)
  assert.deepEqual(calls, ['first takes', 'second takes', 'first leaves', 'second leaves', 'third leaves'])
})
