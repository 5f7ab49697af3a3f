// What a node does with the answer to its beat: a row of the table for each test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { NodeStage } from '../harness/nodes/node-stage.ts'

test('a node joins, takes what it is assigned, and ends without a crash', async () => {
  await using stage = new NodeStage()
  const node = await stage.join()
  assert.equal(node.membership.state, 'active')
  assert.throws(() => node.membership.holdOf('shop'), NotHeldError)
  await stage.give(node, 'shop')
  const [row] = await stage.tables.assignments.all()
  assert.deepEqual(node.membership.holdOf('shop'), { instance: 'shop', node: node.id, epoch: row?.epoch })
  const before = node.id
  await stage.until(node.membership[Symbol.asyncDispose]())
  assert.equal(node.membership.state, 'released')
  const after = await stage.tables.assignments.find('shop')
  assert.deepEqual([after?.node, after?.crashes], [null, 0])
  assert.equal((await stage.tables.nodes.beat(before)).mine, null)
})
