import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { PastMoveStore } from '../../../src/storage/stores/nodes/past-move-store.ts'
import { joinedAt, NodeStage } from '../harness/node-stage.ts'

const minute = 60_000
const at = joinedAt + minute

async function movesOf(stage: NodeStage): Promise<unknown[]> {
  const moves = await new PastMoveStore(stage.database).newest(50)
  return moves.map(({ instance, from, to, reason, at: time }) => [instance, from, to, reason, time - joinedAt])
}

describe('past moves', { skip: withoutPostgres }, () => {
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
    const store = new PastMoveStore(stage.database)
    assert.deepEqual(
      (await store.newest(2)).map((each) => each.at),
      [at + 2, at + 1],
    )
    await stage.nodes.prune(at + 2)
    assert.deepEqual(
      (await store.newest(50)).map((each) => each.at),
      [at + 2],
    )
  })
})
