import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { SharedKeys } from './shared-keys.ts'

/** Work that ends when the test says so. */
function held(log: string[], name: string) {
  const end = Promise.withResolvers<undefined>()
  const work = async () => {
    log.push(`${name} begins`)
    await end.promise
    log.push(`${name} ends`)
  }
  return {
    work,
    end: () => {
      end.resolve(undefined)
    },
  }
}

test('users of a key run side by side, and other keys are not concerned', async () => {
  const keys = new SharedKeys()
  const log: string[] = []
  const [one, two, alone] = [held(log, 'one'), held(log, 'two'), held(log, 'alone')]
  const all = [keys.share('a', one.work), keys.share('a', two.work), keys.close(['b'], alone.work)]
  await setImmediate()
  assert.deepEqual(log, ['one begins', 'two begins', 'alone begins'])
  for (const each of [one, two, alone]) each.end()
  await Promise.all(all)
})

test('whoever closes a key waits for its users, and later users wait until it is open', async () => {
  const keys = new SharedKeys()
  const log: string[] = []
  const [before, alone, after] = [held(log, 'before'), held(log, 'alone'), held(log, 'after')]
  const all = [keys.share('a', before.work), keys.close(['a'], alone.work), keys.share('a', after.work)]
  await setImmediate()
  assert.deepEqual(log, ['before begins'])
  assert.ok(keys.closed('a'))
  before.end()
  await setImmediate()
  assert.deepEqual(log, ['before begins', 'before ends', 'alone begins'])
  alone.end()
  after.end()
  await Promise.all(all)
  assert.deepEqual(log.slice(3), ['alone ends', 'after begins', 'after ends'])
  assert.equal(keys.closed('a'), undefined)
})

test('callers that close the same keys in another order take turns', async () => {
  const keys = new SharedKeys()
  const log: string[] = []
  const [one, two] = [held(log, 'one'), held(log, 'two')]
  const all = [keys.close(['a', 'b'], one.work), keys.close(['b', 'a', 'b'], two.work)]
  await setImmediate()
  assert.deepEqual(log, ['one begins'])
  one.end()
  two.end()
  await Promise.all(all)
  assert.deepEqual(log, ['one begins', 'one ends', 'two begins', 'two ends'])
})

test('a key is open again after a failure', async () => {
  const keys = new SharedKeys()
  await assert.rejects(keys.close(['a'], () => Promise.reject(new Error('refused'))))
  await assert.rejects(keys.share('a', () => Promise.reject(new Error('refused'))))
  assert.equal(await keys.close(['a'], () => Promise.resolve(7)), 7)
})

test('a user that does not wait any longer leaves the closed key', async () => {
  const keys = new SharedKeys()
  const log: string[] = []
  const alone = held(log, 'alone')
  const closing = keys.close(['a'], alone.work)
  const stop = new AbortController()
  const waiting = keys.share('a', held(log, 'user').work, stop.signal)
  const refusal = assert.rejects(waiting, { message: 'no longer' })
  stop.abort(new Error('no longer'))
  await refusal
  alone.end()
  await closing
  assert.deepEqual(log, ['alone begins', 'alone ends'])
})
