import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { minute } from '../../../test/harness/nodes/placement-views.ts'
import { SimulatedCluster } from '../../../test/harness/nodes/simulated-cluster.ts'

test('an instance that kills its nodes kills two at most, is found, and the others run again', () => {
  const killer = fc.integer({ min: 0, max: 39 })
  const delay = fc.constantFrom(0, 500, 1500, 3000, 8000, 20_000, 60_000)
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 40, max: 120 }),
      killer,
      delay,
      (realNodes, instances, which, delayMs) => {
        const cluster = new SimulatedCluster({ realNodes, instances, killers: new Map([[`i${which}`, delayMs]]) })
        cluster.run(40 * minute)
        assert.ok(cluster.realDeaths <= 2, `${cluster.realDeaths} nodes died`)
        assert.deepEqual(cluster.quarantined, [`i${which}`])
        assert.equal(cluster.atRealNodes.length, instances - 1)
      },
    ),
    { numRuns: 15 },
  )
})

test('an instance that kills quickly is found within two minutes, and the others run again then', () => {
  for (const realNodes of [1, 2, 3, 10]) {
    const cluster = new SimulatedCluster({ realNodes, instances: 100, killers: new Map([['i33', 1000]]) })
    cluster.run(2 * minute)
    assert.deepEqual(cluster.quarantined, ['i33'], `${realNodes} nodes`)
    assert.equal(cluster.running.length, 99, `${realNodes} nodes`)
  }
})

test('two instances that kill kill two nodes each at most, and both are found', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 8 }),
      fc.constantFrom(500, 4000),
      fc.constantFrom(500, 3000),
      (realNodes, one, other) => {
        const killers = new Map([
          ['i3', one],
          ['i4', other],
        ])
        const cluster = new SimulatedCluster({ realNodes, instances: 50, killers })
        cluster.run(40 * minute)
        assert.ok(cluster.realDeaths <= 4, `${cluster.realDeaths} nodes died`)
        assert.deepEqual(cluster.quarantined.sort(), ['i3', 'i4'])
        assert.equal(cluster.atRealNodes.length, 48)
      },
    ),
    { numRuns: 8 },
  )
})

test('without cells it kills one node after the other', () => {
  const cluster = new SimulatedCluster({
    realNodes: 5,
    instances: 40,
    killers: new Map([['i1', 1000]]),
    hasCells: false,
  })
  cluster.run(5 * minute)
  assert.ok(cluster.realDeaths > 10)
  assert.deepEqual(cluster.quarantined, [])
})
