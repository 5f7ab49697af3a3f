import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NextRun } from './next-run.ts'

/** Work whose runs the test ends. */
function scripted() {
  const runs: PromiseWithResolvers<number>[] = []
  const next = new NextRun(() => {
    const run = Promise.withResolvers<number>()
    runs.push(run)
    return run.promise
  })
  return { runs, next }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('callers that come during a run share the next one, which begins after it', async () => {
  const { runs, next } = scripted()
  const first = next.run()
  const later = [next.run(), next.run()]
  await turn()
  assert.equal(runs.length, 1, 'one run at a time')
  runs[0]?.resolve(1)
  assert.equal(await first, 1)
  // It comes between the two runs.
  later.push(next.run())
  await turn()
  assert.equal(runs.length, 2)
  runs[1]?.resolve(2)
  assert.deepEqual(await Promise.all(later), [2, 2, 2])
})

test('a run that fails is the failure of its own callers only', async () => {
  const { runs, next } = scripted()
  const first = next.run()
  const second = next.run()
  runs[0]?.reject(new Error('no'))
  await assert.rejects(first, /no/)
  await turn()
  runs[1]?.resolve(2)
  assert.equal(await second, 2)
  void next.run()
  assert.equal(runs.length, 3, 'without a run under way the next one begins at once')
})
