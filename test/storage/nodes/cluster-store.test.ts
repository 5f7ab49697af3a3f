import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { ClusterStore } from '../../../src/storage/stores/nodes/cluster-store.ts'
import { joinedAt, NodeStage } from '../harness/node-stage.ts'

const minute = 60_000
const at = joinedAt + minute

async function movesOf(stage: NodeStage): Promise<unknown[]> {
  const moves = await new ClusterStore(stage.database).newestMoves(50)
  return moves.map(({ instance, from, to, reason, at: time }) => [instance, from, to, reason, time - joinedAt])
}

describe('cluster store', { skip: withoutPostgres }, () => {
  test('a placement, a hand-over and a death are noted with the names of the nodes, newest first', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    await stage.createFree('x')
    await stage.assignments.place([{ instance: 'x', node: 'a' }], at)
    await stage.assignments.handOver(await stage.holdOf('x'), 'b', at + 1)
    await stage.nodes.bury(await stage.seen('b'), [{ instance: 'x', node: 'c' }], at + 2)
    assert.deepEqual(await movesOf(stage), [
      ['x', 'host b', 'host c', 'death', minute + 2],
      ['x', 'host a', 'host b', 'hand_over', minute + 1],
      ['x', null, 'host a', 'placed', minute],
    ])
  })

  test('an instance that no node can take after a death has moved to no node', async () => {
    await using stage = await NodeStage.open('a')
    await stage.create('x', 'a')
    await stage.nodes.bury(await stage.seen('a'), [], at)
    assert.deepEqual(await movesOf(stage), [['x', 'host a', null, 'death', minute]])
  })

  test('an instance that a lock kept at its dead node moves because of the death', async () => {
    await using stage = await NodeStage.open('a', 'b')
    await stage.create('x', 'a')
    await stage.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'x' FOR SHARE`)
    await stage.nodes.bury(await stage.seen('a'), [{ instance: 'x', node: 'b' }], at)
    await stage.locker.commit()
    assert.deepEqual(await movesOf(stage), [])
    await stage.assignments.place([{ instance: 'x', node: 'b' }], at + 1)
    assert.deepEqual(await movesOf(stage), [['x', 'host a', 'host b', 'death', minute + 1]])
  })

  test('an instance that is released from quarantine was placed', async () => {
    await using stage = await NodeStage.open('a', 'b')
    await stage.assignments.quarantine(await stage.create('x', 'a'), at)
    await stage.assignments.release('x', 'b', at + 1)
    assert.deepEqual(await movesOf(stage), [['x', null, 'host b', 'placed', minute + 1]])
  })

  test('a change that is refused is not noted', async () => {
    await using stage = await NodeStage.open('a', 'b')
    const hold = await stage.create('x', 'a')
    await stage.assignments.handOver({ ...hold, epoch: hold.epoch - 1 }, 'b', at)
    await stage.assignments.place([{ instance: 'x', node: 'b' }], at)
    await stage.nodes.bury({ id: 'a', beat: 99 }, [{ instance: 'x', node: 'b' }], at)
    assert.deepEqual(await movesOf(stage), [])
  })

  test('only as many as asked for are read, and old ones are removed', async () => {
    await using stage = await NodeStage.open('a', 'b')
    await stage.create('x', 'a')
    for (const [index, to] of ['b', 'a', 'b'].entries()) {
      await stage.assignments.handOver(await stage.holdOf('x'), to, at + index)
    }
    const store = new ClusterStore(stage.database)
    assert.deepEqual(
      (await store.newestMoves(2)).map((each) => each.at),
      [at + 2, at + 1],
    )
    await stage.nodes.prune(at + 2)
    assert.deepEqual(
      (await store.newestMoves(50)).map((each) => each.at),
      [at + 2],
    )
  })

  test('the instances of each node are counted, with those of no node, and those in quarantine are named', async () => {
    await using stage = await NodeStage.open('a', 'b')
    for (const instance of ['x', 'y']) await stage.create(instance, 'a')
    await stage.create('z', 'b')
    await stage.createFree('f')
    for (const name of ['q2', 'q1']) await stage.assignments.quarantine(await stage.create(name, 'b'), at)
    const { held, quarantined } = await new ClusterStore(stage.database).counts()
    assert.deepEqual([held.get('a'), held.get('b'), held.get(null), held.size], [2, 1, 1, 3])
    assert.deepEqual(quarantined, ['q1', 'q2'])
  })
})
