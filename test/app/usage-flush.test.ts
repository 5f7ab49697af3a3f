// How long what a node counts is missing in the answers of other nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorkers } from '../../src/app/create-workers.ts'
import { dutiesOf } from '../harness/duties.ts'
import { silentLog } from '../harness/logs.ts'
import { ManualClock } from '../harness/manual-clock.ts'

const alone = { membership: { hasServingPeers: false } }
/** What the only node sees of its cells, and what a cell sees of the only node: test/nodes/membership.test.ts. */
const beside = { membership: { hasServingPeers: true } }

for (const [where, node, everyMs] of [
  ['at the only process', null, 60_000],
  ['at the only node that answers clients', alone, 60_000],
  ['beside a node that answers clients', beside, 5000],
] as const) {
  test(`usage is stored every ${everyMs / 1000} s ${where}`, async () => {
    const clock = new ManualClock()
    let flushes = 0
    const flush = () => {
      flushes++
      return Promise.resolve()
    }
    const parts = { usage: { flush }, duties: dutiesOf([]), node } as unknown as Parameters<typeof createWorkers>[1]
    const workers = createWorkers({ clock, log: silentLog }, parts)
    await using worker = workers.find(({ name }) => name === 'usage-flush') ?? assert.fail('no worker stores usage')
    worker.start()
    await clock.advance(everyMs - 1)
    assert.equal(flushes, 0)
    await clock.advance(1)
    assert.equal(flushes, 1)
  })
}
