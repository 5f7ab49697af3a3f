// A process prepares the database before it is a node, and waits for another process that prepares it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NodeRight } from '../../src/nodes/node-right.ts'
import { StorageError } from '../../src/storage/engine/statement.ts'
import { NodeStage } from '../harness/nodes/node-stage.ts'

const away = () => Promise.reject(new StorageError('unavailable', 'canceling statement due to lock timeout'))

function setUp(stage: NodeStage, prepare: (epoch: number) => Promise<void>) {
  const { membership, recorded } = stage.newNode()
  const leases = { holder: () => Promise.resolve(undefined), retire: () => Promise.resolve(7) }
  const { clock } = stage
  const right = new NodeRight({ membership, leases, isDead: () => false, prepare, clock, log: recorded.log })
  return { right, membership }
}

describe('a process that is about to be a node', () => {
  test('prepares the database again while another process keeps it from that', async () => {
    await using stage = new NodeStage()
    const epochs: number[] = []
    const { right, membership } = setUp(stage, (epoch) => {
      assert.equal(membership.id, undefined, 'it is no node yet')
      epochs.push(epoch)
      return epochs.length < 4 ? away() : Promise.resolve()
    })
    await stage.until(right.acquire())
    assert.deepEqual(epochs, [7, 7, 7, 7])
    assert.equal(right.state, 'held')
  })

  test('gives up after a minute, with the reason', async () => {
    await using stage = new NodeStage()
    const { right } = setUp(stage, away)
    const since = stage.clock.monotonic()
    await assert.rejects(stage.clock.advanceUntil(right.acquire()), /lock timeout/)
    const tookMs = stage.clock.monotonic() - since
    assert.ok(tookMs >= 60_000 && tookMs < 65_000, `took ${tookMs} ms`)
  })

  test('does not repeat what fails for another reason', async () => {
    await using stage = new NodeStage()
    let attempts = 0
    const { right } = setUp(stage, () => {
      attempts++
      return Promise.reject(new Error('a bug'))
    })
    await assert.rejects(stage.until(right.acquire()), /a bug/)
    assert.equal(attempts, 1)
  })

  test('is no node when it is stopped meanwhile', async () => {
    await using stage = new NodeStage()
    const { right, membership } = setUp(stage, away)
    const acquiring = assert.rejects(right.acquire())
    await stage.pass(1000)
    await right[Symbol.asyncDispose]()
    await acquiring
    assert.equal(membership.id, undefined)
  })
})
