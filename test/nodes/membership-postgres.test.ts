// Memberships on the real tables in PostgreSQL, on the clock of the test.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AssignmentStore } from '../../src/storage/stores/nodes/assignment-store.ts'
import { NodeStore } from '../../src/storage/stores/nodes/node-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { NodeStage } from '../harness/nodes/node-stage.ts'

async function openStage() {
  const opened = await newDatabase('postgres')
  const { database } = opened
  const unused = () => Promise.reject(new Error('not on PostgreSQL'))
  const stage = new NodeStage(() => ({
    nodes: new NodeStore(database),
    assignments: new AssignmentStore(database),
    addInstance: async (instance) => {
      await database.write(
        database.query.insertInto('assignments').values({ instance, node: null, epoch: 0, since: 0 }),
      )
    },
    changeSettings: unused,
    stepClock: unused,
    copyNodes: unused,
  }))
  const dispose = async () => {
    await stage[Symbol.asyncDispose]()
    await opened[Symbol.asyncDispose]()
  }
  return { stage, [Symbol.asyncDispose]: dispose }
}

describe('memberships on PostgreSQL', { skip: !engines.includes('postgres') }, () => {
  test('the instances of a killed node go to another one, and those of a stopped one, too', async () => {
    await using world = await openStage()
    const { stage } = world
    const [killed, stopped, last] = [await stage.join(), await stage.join(), await stage.join()]
    await stage.give(killed, 'shop')
    await stage.give(stopped, 'bar')
    killed.process.isDead = true
    await stage.pass(6000)
    assert.equal([...stopped.holder.connected, ...last.holder.connected].filter((name) => name === 'shop').length, 1)
    stopped.stop()
    await stage.pass(6000)
    assert.deepEqual(last.holder.connected, ['bar', 'shop'])
    await stopped.process.continue()
    await stage.pass(2000)
    assert.deepEqual([stopped.membership.state, stopped.holder.connected], ['active', []])
    assert.equal((await stage.tables.assignments.find('bar'))?.crashes, 1)
  })

  test('a wish moves an instance, and the end of a node is no crash', async () => {
    await using world = await openStage()
    const { stage } = world
    const [giver, taker] = [await stage.join(), await stage.join()]
    const { assignments } = stage.tables
    await stage.give(giver, 'shop')
    giver.holder.onGiveAway = async (hold, to) => {
      await assignments.handOver(hold, to.id, 0)
    }
    await assignments.wish([{ instance: 'shop', from: giver.id, to: taker.id, askedAt: 1 }])
    await stage.pass(2000)
    assert.deepEqual([giver.holder.connected, taker.holder.connected], [[], ['shop']])
    await stage.until(taker.membership[Symbol.asyncDispose]())
    const row = await assignments.find('shop')
    assert.deepEqual([row?.node, row?.crashes], [null, 0])
  })

  test('a second process alone waits, and takes over when the first one is killed', async () => {
    await using world = await openStage()
    const { stage } = world
    const first = await stage.join({ address: '' })
    await stage.give(first, 'shop')
    const second = stage.newNode({ address: '' })
    const joined = second.membership.join()
    await stage.pass(3000)
    assert.equal(second.membership.state, 'standby')
    first.process.isDead = true
    await stage.until(joined)
    await stage.pass(1000)
    assert.deepEqual(second.holder.connected, ['shop'])
  })
})
