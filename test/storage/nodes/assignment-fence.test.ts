import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAssignmentFence } from '../../../src/storage/stores/nodes/assignment-fence.ts'
import { assignmentInsert, assignmentRemoval } from '../../../src/storage/stores/nodes/assignment-steps.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { joinedAt, NodeStage } from '../harness/node-stage.ts'

const at = joinedAt + 60_000
const refused = { name: 'StorageError', failure: 'expectation' }

/** A fenced write that has passed its fence and waits for a lock of the test. */
async function openWrite(stage: NodeStage, hold: Parameters<ReturnType<typeof createAssignmentFence>>[0]) {
  const { database, bystander } = stage
  await bystander.lock('tenants')
  const made = database.write(createAssignmentFence(database)(hold), database.query.deleteFrom('tenants'))
  await bystander.blocked(1)
  return {
    end: async () => {
      await bystander.unlock()
      await made
    },
  }
}

describe('fence of an assignment', { skip: withoutPostgres }, () => {
  test('a hold lets its node write until the owner changes, also when the instance comes back', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const first = await stage.create('x', 'a')
    assert.equal(await stage.mayWrite(first), true)
    assert.equal(await stage.mayWrite({ ...first, instance: 'y' }), false)
    assert.equal(await stage.mayWrite({ ...first, epoch: first.epoch + 1 }), false)
    await stage.assignments.handOver(first, 'b', at)
    await stage.assignments.handOver(await stage.holdOf('x'), 'a', at)
    const second = await stage.holdOf('x')
    assert.deepEqual([await stage.mayWrite(first), await stage.mayWrite(second)], [false, true])
  })

  test('an epoch that a database gives twice is no right for another node', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const before = await stage.create('x', 'a')
    // The database is set back: the assignment was never made, and the sequence repeats itself.
    await stage.bystander.query(`DELETE FROM assignments; SELECT setval('assignment_epoch', ${before.epoch}, false)`)
    const after = await stage.create('x', 'b')
    assert.equal(after.epoch, before.epoch)
    assert.deepEqual([await stage.mayWrite(before), await stage.mayWrite(after)], [false, true])
  })

  test('the instance of a name that was deleted and created again refuses the old hold', async () => {
    await using stage = await NodeStage.open('a')
    const before = await stage.create('x', 'a')
    await stage.database.write(...assignmentRemoval(stage.database, 'x'))
    assert.equal(await stage.mayWrite(before), false)
    await stage.create('x', 'a')
    assert.equal(await stage.mayWrite(before), false)
  })

  test('a node writes for an instance that is deleted, and for none that exists', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const { database } = stage
    const deleted = (instance: string, node = 'a') => ({ instance, node, epoch: 0, isDeleted: true as const })
    await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('x')))
    await stage.create('x', 'b')
    assert.deepEqual([await stage.mayWrite(deleted('x')), await stage.mayWrite(deleted('gone'))], [false, true])
    await database.write(database.query.deleteFrom('instances'), ...assignmentRemoval(database, 'x'))
    assert.equal(await stage.mayWrite(deleted('x')), true)
    await stage.nodes.bury(await stage.seen('a'), [], at)
    assert.equal(await stage.mayWrite(deleted('x')), false, 'the node is dead')
  })

  test('no other node becomes the owner while a fenced write is under way', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const hold = await stage.create('x', 'a')
    const write = await openWrite(stage, hold)
    await stage.nodes.bury(await stage.seen('a'), [{ instance: 'x', node: 'b' }], at)
    assert.deepEqual(await stage.assignments.place([{ instance: 'x', node: 'b' }], at), [])
    await write.end()
    assert.equal((await stage.assignments.place([{ instance: 'x', node: 'b' }], at)).length, 1)
    assert.equal(await stage.mayWrite(hold), false)
  })

  test('two fenced writes of an instance do not wait for each other', async () => {
    await using stage = await NodeStage.open('a')
    const hold = await stage.create('x', 'a')
    const write = await openWrite(stage, hold)
    await stage.database.write(
      createAssignmentFence(stage.database)(hold),
      stage.database.query.deleteFrom('first_callbacks'),
    )
    await write.end()
  })

  test('a write of a node is refused when the node is dead or unknown, and made while it drains', async () => {
    await using stage = await NodeStage.open('a')
    const write = (node: string) =>
      stage.database.write(
        createAssignmentFence(stage.database)({ node, epoch: 0 }),
        stage.database.query.deleteFrom('tenants'),
      )
    await write('a')
    await stage.nodes.drain('a')
    await write('a')
    await assert.rejects(write('stranger'), refused)
    await stage.nodes.end('a', at)
    await assert.rejects(write('a'), refused)
  })

  test('a write of a node makes no beat wait, and the burial of the node waits for the write', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const write = await openWrite(stage, { node: 'a', epoch: 0 })
    assert.equal((await stage.nodes.beat('a')).mine, 1)
    const burial = stage.nodes.bury(await stage.seen('a'), [], at)
    await stage.bystander.blocked(2)
    assert.equal((await stage.states())['a'], 'active')
    await write.end()
    assert.equal(await burial, true)
  })

  test('a beat does not wait behind a burial that waits', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const write = await openWrite(stage, { node: 'a', epoch: 0 })
    const burial = stage.nodes.bury(await stage.seen('a'), [], at)
    await stage.bystander.blocked(2)
    assert.equal((await stage.nodes.beat('a')).mine, 1)
    await write.end()
    assert.equal(await burial, false, 'the node has beaten')
  })
})

describe('steps of the record of an instance', { skip: withoutPostgres }, () => {
  test('a dead or unknown node creates nothing, and a taken name refuses the write', async () => {
    await using stage = await NodeStage.open('a', 'b')
    await stage.nodes.end('b', at)
    const create = (instance: string, node: string) =>
      stage.database.write(
        stage.database.query.insertInto('last_messages').values({ instance, in_at: null, out_at: null }),
        ...assignmentInsert(stage.database, instance, node, at),
      )
    await assert.rejects(create('x', 'b'), refused)
    await assert.rejects(create('x', 'stranger'), refused)
    await create('x', 'a')
    await assert.rejects(stage.database.write(...assignmentInsert(stage.database, 'x', 'a', at)), {
      failure: 'constraint',
    })
    assert.deepEqual(await stage.owners(), { x: 'a' })
  })

  test('a removal takes the assignment and its wish along', async () => {
    await using stage = await NodeStage.open('a', 'b')
    await stage.create('x', 'a')
    await stage.create('y', 'a')
    await stage.assignments.wish(['x', 'y'].map((instance) => ({ instance, from: 'a', to: 'b', askedAt: at })))
    await stage.database.write(...assignmentRemoval(stage.database, 'x'))
    assert.deepEqual(await stage.owners(), { y: 'a' })
    assert.deepEqual(await stage.bystander.query('SELECT instance FROM moves'), [{ instance: 'y' }])
  })
})
