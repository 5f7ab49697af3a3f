// The database is away for all nodes, or its clock and those of the nodes are wrong: no node is buried.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeStage } from '../harness/nodes/node-stage.ts'
import type { TestNode } from '../harness/nodes/node-stage.ts'

async function threeNodes(stage: NodeStage): Promise<TestNode[]> {
  const nodes: TestNode[] = []
  for (const [index, instance] of ['shop', 'bar', 'inn'].entries()) {
    const node = await stage.join({ skewMs: [0, 3_600_000, -3_600_000][index] ?? 0 })
    await stage.give(node, instance)
    // Their beats are spread over the half second.
    await stage.pass(150)
    nodes.push(node)
  }
  return nodes
}

function setLines(nodes: readonly TestNode[], line: 'up' | 'refused' | 'silent'): void {
  for (const { process } of nodes) process.database = line
}

for (const line of ['refused', 'silent'] as const) {
  for (const seconds of [2, 9, 40]) {
    test(`an outage of ${seconds} s for all (${line}): no node is buried, no connection closes`, async () => {
      await using stage = new NodeStage()
      const nodes = await threeNodes(stage)
      const ids = nodes.map(({ id }) => id)
      setLines(nodes, line)
      await stage.pass(seconds * 1000)
      const states = new Set(nodes.map(({ membership }) => membership.state))
      assert.deepEqual([...states], [seconds > 4 ? 'uncertain' : 'active'])
      setLines(nodes, 'up')
      await stage.pass(10_000)
      assert.deepEqual(
        nodes.map(({ holder }) => holder.calls.length),
        [1, 1, 1],
      )
      assert.deepEqual(
        nodes.map(({ id, membership }) => [id, membership.state]),
        ids.map((id) => [id, 'active']),
      )
    })
  }
}

test('an outage in which the others answer slowly closes no connection', async () => {
  await using stage = new NodeStage()
  const nodes = await threeNodes(stage)
  for (const { process } of nodes) process.peerMs = 600
  setLines(nodes, 'refused')
  await stage.pass(9000)
  setLines(nodes, 'up')
  await stage.pass(5000)
  assert.deepEqual(
    nodes.map(({ holder }) => holder.calls.length),
    [1, 1, 1],
  )
})

test('after an outage the nodes come back one after the other, and none is buried', async () => {
  await using stage = new NodeStage()
  const nodes = await threeNodes(stage)
  setLines(nodes, 'refused')
  await stage.pass(9000)
  for (const node of nodes) {
    setLines([node], 'up')
    await stage.pass(1400)
  }
  await stage.pass(10_000)
  assert.deepEqual(
    nodes.map(({ holder }) => holder.calls.length),
    [1, 1, 1],
  )
})

test('a node that stays cut off after an outage closes before the others, which watch anew, bury it', async () => {
  await using stage = new NodeStage()
  const nodes = await threeNodes(stage)
  const [late, ...others] = nodes
  assert.ok(late)
  setLines(nodes, 'refused')
  await stage.pass(9000)
  setLines(others, 'up')
  const start = stage.clock.monotonic()
  await stage.pass(2500)
  assert.equal(late.membership.state, 'uncertain', 'the others have come back only now')
  while (!late.holder.isIsolated) await stage.pass(50)
  assert.ok(stage.clock.monotonic() - start <= 4000)
  await stage.pass(2000)
  assert.equal(others.flatMap(({ holder }) => holder.connected).length, 3)
})

test('clocks that differ by hours and jump bury no node', async () => {
  await using stage = new NodeStage()
  const nodes = await threeNodes(stage)
  for (const byMs of [3_600_000, -7_200_000]) {
    await stage.tables.stepClock(byMs)
    stage.clock.set(-byMs)
    await stage.pass(10_000)
  }
  assert.deepEqual(
    nodes.map(({ holder, membership }) => [holder.calls.length, membership.state]),
    Array(3).fill([1, 'active']),
  )
  const now = (await stage.tables.nodes.beat('')).now
  for (const { membership } of nodes)
    assert.ok(Math.abs(membership.databaseNow() - now) <= 500, 'the time of the database')
})
