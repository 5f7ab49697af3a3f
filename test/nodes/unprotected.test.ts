// The stage of failover.test.ts and outage.test.ts names a second connection when a protection is missing.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NodeStage } from '../harness/nodes/node-stage.ts'
import type { TestNode } from '../harness/nodes/node-stage.ts'

const connectedTwice = /shop is connected at .* and at another node/

/** A node that holds `shop` and is cut off from the database, and another one that is not. */
async function cutOff(stage: NodeStage): Promise<{ cut: TestNode; other: TestNode }> {
  const [cut, other] = [await stage.join(), await stage.join()]
  await stage.give(cut, 'shop')
  cut.process.database = 'silent'
  return { cut, other }
}

/** The violation that was looked for does not fail the end of the stage. */
async function assertConnectedTwice(stage: NodeStage, { cut }: { cut: TestNode }): Promise<void> {
  await assert.rejects(stage.pass(8000), connectedTwice)
  cut.mayBeWrong = true
}

describe('without a protection an instance is connected twice', () => {
  test('without its own limit a node that is cut off keeps its connections', async () => {
    await using stage = new NodeStage()
    const nodes = await cutOff(stage)
    nodes.cut.holder.isolated = () => undefined
    await assertConnectedTwice(stage, nodes)
  })

  test('without patience another node takes the instance before the connections are closed', async () => {
    await using stage = new NodeStage()
    const nodes = await cutOff(stage)
    await stage.pass(1000)
    const { nodes: seen } = await stage.tables.nodes.beat('')
    const dead = seen.find(({ id }) => id === nodes.cut.id) ?? assert.fail('it is not seen')
    assert.ok(await stage.tables.nodes.bury(dead, [{ instance: 'shop', node: nodes.other.id }], 0))
    await assertConnectedTwice(stage, nodes)
  })

  test('without the loss of what it held a node that stood still connects beside its successor', async () => {
    await using stage = new NodeStage()
    const [paused, other] = [await stage.join(), await stage.join()]
    await stage.give(paused, 'shop')
    paused.holder.lose = () => Promise.resolve()
    paused.stop()
    await stage.pass(10_000)
    assert.deepEqual(other.holder.connected, ['shop'])
    await paused.process.continue()
    await stage.pass(2000)
    paused.mayBeWrong = false
    await assertConnectedTwice(stage, { cut: paused })
  })
})

describe('with every protection it is not', () => {
  test('a node that is cut off, and one that stood still', async () => {
    await using stage = new NodeStage()
    const { cut, other } = await cutOff(stage)
    await stage.pass(8000)
    assert.deepEqual([cut.holder.connected, other.holder.connected], [[], ['shop']])
    cut.process.database = 'up'
    await stage.pass(2000)
    other.stop()
    await stage.pass(8000)
    await other.process.continue()
    await stage.pass(2000)
    other.mayBeWrong = false
    await stage.pass(8000)
    assert.deepEqual([cut.holder.connected, other.holder.connected], [['shop'], []])
  })
})
