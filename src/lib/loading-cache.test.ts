import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { LoadingCache } from './loading-cache.ts'

/** Every load waits until the test answers it. */
function setUp() {
  const clock = new ManualClock()
  const loads: PromiseWithResolvers<string>[] = []
  const load = () => {
    const answer = Promise.withResolvers<string>()
    loads.push(answer)
    return answer.promise
  }
  return { clock, loads, cache: new LoadingCache({ load, clock, max: 2, ttlMs: 1000 }) }
}

test('callers share one load, and its answer until it is too old', async () => {
  const { clock, loads, cache } = setUp()
  const asked = [cache.find('a'), cache.find('a')]
  loads[0]?.resolve('one')
  assert.deepEqual(await Promise.all(asked), ['one', 'one'])
  await clock.advance(999)
  assert.equal(await cache.find('a'), 'one')
  await clock.advance(1)
  void cache.find('a')
  assert.equal(loads.length, 2)
})

test('a load that began before an eviction is not used after it', async () => {
  const { loads, cache } = setUp()
  const early = cache.find('a')
  cache.evict('a')
  const late = cache.find('a')
  loads[1]?.resolve('two')
  loads[0]?.resolve('one')
  assert.deepEqual([await early, await late, await cache.find('a')], ['one', 'two', 'two'])
})

test('a failed load is not remembered', async () => {
  const { loads, cache } = setUp()
  const failing = cache.find('a')
  loads[0]?.reject(new Error('away'))
  await assert.rejects(failing, /away/)
  const again = cache.find('a')
  loads[1]?.resolve('two')
  assert.equal(await again, 'two')
})
