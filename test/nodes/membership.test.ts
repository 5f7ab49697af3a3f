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

test('an instance that was given to another node is lost, and one with a new epoch is lost and taken anew', async () => {
  await using stage = new NodeStage()
  const [node, other] = [await stage.join(), await stage.join()]
  await stage.give(node, 'shop', 'bar')
  const [shop, bar] = [node.membership.holdOf('shop'), node.membership.holdOf('bar')]
  node.holder.calls.length = 0
  await stage.tables.assignments.handOver(shop, other.id, stage.clock.now())
  const again = await stage.tables.assignments.handOver(bar, node.id, stage.clock.now())
  await stage.pass(1000)
  const expected = [`lose shop ${shop.epoch}`, `lose bar ${bar.epoch}`, `take bar ${again?.epoch}`]
  assert.deepEqual(node.holder.calls.sort(), expected.sort())
  assert.throws(() => node.membership.holdOf('shop'), NotHeldError)
  assert.deepEqual([node.membership.holdOf('bar').epoch, other.holder.connected], [again?.epoch, ['shop']])
})

test('a reading that fails is repeated with the next beat', async () => {
  await using stage = new NodeStage()
  const heldBy = stage.tables.assignments.heldBy.bind(stage.tables.assignments)
  let failures = 0
  stage.tables.assignments.heldBy = (id) => (failures++ < 3 ? Promise.reject(new Error('no')) : heldBy(id))
  const node = await stage.join()
  await stage.tables.addInstance('shop')
  await stage.tables.assignments.place([{ instance: 'shop', node: node.id }], 0)
  await stage.pass(3000)
  assert.deepEqual([failures, node.holder.connected], [4, ['shop']])
})

test('a take or a loss that fails is repeated; a take is not repeated when the instance is lost', async () => {
  await using stage = new NodeStage()
  const [node, other] = [await stage.join(), await stage.join()]
  let failures = 0
  node.holder.onTake = () => (failures++ < 1 ? Promise.reject(new Error('no')) : Promise.resolve())
  await stage.give(node, 'shop')
  const shop = node.membership.holdOf('shop')
  assert.deepEqual(node.holder.calls, Array(2).fill(`take shop ${shop.epoch}`))
  node.holder.onLose = () => (failures++ < 4 ? Promise.reject(new Error('no')) : Promise.resolve())
  await stage.tables.assignments.handOver(shop, node.id, 0)
  node.holder.calls.length = 0
  node.holder.onTake = () => Promise.reject(new Error('no'))
  await stage.pass(3000)
  const next = node.membership.holdOf('shop')
  assert.equal(node.holder.calls.filter((call) => call.startsWith('lose')).length, 3)
  assert.ok(node.holder.calls.includes(`take shop ${next.epoch}`))
  await stage.tables.assignments.handOver(next, other.id, 0)
  node.membership.lookNow()
  await stage.pass(1000)
  assert.equal(node.holder.calls.at(-1), `lose shop ${next.epoch}`)
  node.holder.calls.length = 0
  await stage.pass(10_000)
  assert.deepEqual(node.holder.calls, [])
})

test('a take that is late does not win over a later loss, and an epoch that comes back is lost before it is taken', async () => {
  await using stage = new NodeStage()
  const node = await stage.join()
  await stage.give(node, 'shop')
  const first = node.membership.holdOf('shop')
  const opening = Promise.withResolvers<undefined>()
  node.holder.onTake = () => opening.promise
  await stage.tables.assignments.handOver(first, node.id, 0)
  await stage.pass(600)
  const second = node.membership.holdOf('shop')
  // It goes away and comes back twice while the take lasts. Only the last one counts.
  for (let times = 0; times < 2; times++) {
    await stage.tables.assignments.handOver(node.membership.holdOf('shop'), 'a dead node', 0)
    node.membership.lookNow()
    await stage.pass(600)
    assert.throws(() => node.membership.holdOf('shop'), NotHeldError)
    await stage.tables.assignments.place([{ instance: 'shop', node: node.id }], 0)
    await stage.pass(600)
  }
  const last = node.membership.holdOf('shop')
  opening.resolve(undefined)
  await stage.pass(600)
  assert.deepEqual(node.holder.calls, [
    `take shop ${first.epoch}`,
    `lose shop ${first.epoch}`,
    `take shop ${second.epoch}`,
    `lose shop ${second.epoch}`,
    `take shop ${last.epoch}`,
  ])
})

test('a wish is told once; after the hand-over the instance is lost', async () => {
  await using stage = new NodeStage()
  const [node, other] = [await stage.join(), await stage.join()]
  await stage.give(node, 'shop', 'bar')
  const { assignments } = stage.tables
  node.holder.onGiveAway = async (hold, to) => {
    assert.equal(to.address, other.address)
    // The second one is not given away after all. Its wish stays.
    if (hold.instance === 'shop') await assignments.handOver(hold, to.id, 0)
  }
  const ask = (instance: string) => assignments.wish([{ instance, from: node.id, to: other.id, askedAt: 1 }])
  node.holder.calls.length = 0
  await ask('shop')
  await ask('bar')
  await stage.pass(5000)
  const calls = node.holder.calls.map((call) => call.split(' ').slice(0, 2).join(' '))
  assert.deepEqual(calls, ['give shop', 'give bar', 'lose shop'])
  assert.deepEqual([node.holder.connected, other.holder.connected], [['bar'], ['shop']])
  await assignments.dropWish('bar')
  await assignments.wish([{ instance: 'bar', from: node.id, to: other.id, askedAt: 2 }])
  await stage.pass(2000)
  assert.equal(node.holder.calls.filter((call) => call.startsWith('give bar')).length, 2, 'a new wish is told')
})

test('the wish for an instance that cannot leave now is dropped, and a later one is fulfilled', async () => {
  await using stage = new NodeStage()
  const [node, other] = [await stage.join(), await stage.join()]
  await stage.give(node, 'shop')
  const { assignments } = stage.tables
  node.holder.onGiveAway = async (hold, to) => {
    await assignments.handOver(hold, to.id, 0)
  }
  node.holder.isPinned = true
  const ask = (askedAt: number) => assignments.wish([{ instance: 'shop', from: node.id, to: other.id, askedAt }])
  const dropWish = assignments.dropWish.bind(assignments)
  let failures = 0
  assignments.dropWish = (name) => (failures++ < 1 ? Promise.reject(new Error('no')) : dropWish(name))
  await ask(1)
  await stage.pass(2000)
  assert.deepEqual([failures, await assignments.moves(), node.holder.connected], [2, [], ['shop']])
  node.holder.isPinned = false
  await ask(2)
  await stage.pass(2000)
  assert.deepEqual([node.holder.connected, other.holder.connected], [[], ['shop']])
})

test('a wish whose giving failed is told again, and a wish for a node that is gone is dropped', async () => {
  await using stage = new NodeStage()
  const [node, other] = [await stage.join(), await stage.join()]
  await stage.give(node, 'shop', 'bar')
  const { assignments } = stage.tables
  let failures = 0
  node.holder.onGiveAway = () => (failures++ < 2 ? Promise.reject(new Error('no')) : Promise.resolve())
  await assignments.wish([{ instance: 'shop', from: node.id, to: other.id, askedAt: 1 }])
  await assignments.wish([{ instance: 'bar', from: node.id, to: 'gone', askedAt: 1 }])
  await stage.pass(5000)
  assert.equal(failures, 3)
  assert.deepEqual(
    (await assignments.moves()).map(({ instance }) => instance),
    ['shop'],
  )
  assert.deepEqual(node.holder.connected, ['bar', 'shop'])
})

test('changed settings are told once, also when the beats before failed', async () => {
  await using stage = new NodeStage()
  const node = await stage.join()
  await stage.pass(2000)
  assert.deepEqual(node.events, [])
  node.process.database = 'refused'
  await stage.tables.changeSettings()
  await stage.tables.changeSettings()
  await stage.pass(2000)
  node.process.database = 'up'
  await stage.pass(2000)
  assert.deepEqual(node.events, ['settings'])
})

test('a database that forgot a beat was set back', async () => {
  await using stage = new NodeStage()
  const node = await stage.join()
  await stage.give(node, 'shop')
  const setBack = await stage.tables.copyNodes()
  // The assignment changes with it, and no version tells.
  await stage.tables.assignments.handOver(node.membership.holdOf('shop'), 'another node', 0)
  // The beat after it is lost with the old primary; the next beat has its number again.
  await stage.pass(500)
  await setBack()
  await stage.pass(600)
  assert.deepEqual([node.events, node.membership.state], [['set back'], 'active'])
  assert.deepEqual(node.holder.connected, [], 'it reads again what it holds')
  await stage.pass(5000)
  assert.deepEqual(node.events, ['set back'])
})

test('a node that was buried alive loses everything at once and joins under a new id', async () => {
  await using stage = new NodeStage()
  const [node, other] = [await stage.join(), await stage.join()]
  await stage.give(node, 'shop')
  const [before, hold] = [node.id, node.membership.holdOf('shop')]
  const seen = stage.tables.nodes.beat('')
  const { beat } = (await seen).nodes.find(({ id }) => id === before) ?? { beat: -1 }
  node.mayBeWrong = true
  assert.ok(await stage.tables.nodes.bury({ id: before, beat }, [{ instance: 'shop', node: other.id }], 0))
  await stage.pass(1500)
  // Also the connections of no instance close.
  assert.deepEqual(node.holder.calls, [`take shop ${hold.epoch}`, 'isolated', `lose shop ${hold.epoch}`, 'back'])
  assert.deepEqual([node.membership.state, node.id === before], ['active', false])
  assert.throws(() => node.membership.holdOf('shop'), NotHeldError)
  assert.deepEqual([other.holder.connected, node.events], [['shop'], []])
})

test('a cell that was buried alive does not join again', async () => {
  await using stage = new NodeStage()
  const [cell, other] = [await stage.join({ capacity: 0 }), await stage.join()]
  await stage.give(cell, 'shop')
  const { id } = cell
  const { beat } = (await stage.tables.nodes.beat('')).nodes.find((node) => node.id === id) ?? { beat: -1 }
  cell.mayBeWrong = true
  assert.ok(await stage.tables.nodes.bury({ id, beat }, [{ instance: 'shop', node: other.id }], 0))
  await stage.pass(1500)
  assert.deepEqual(cell.events, ['fatal: the other nodes have given up this cell'])
  assert.deepEqual([cell.holder.connected, other.holder.connected], [[], ['shop']])
  assert.equal(cell.membership.id, undefined)
})

test('a cell takes no requests of clients, so it is no serving peer', async () => {
  await using stage = new NodeStage()
  const [cell, node] = [await stage.join({ capacity: 0 }), await stage.join()]
  await stage.pass(1000)
  assert.deepEqual([cell.membership.hasServingPeers, node.membership.hasServingPeers], [true, false])
})

test('an instance that this node has placed is free no more, before the next beat shows it', async () => {
  await using stage = new NodeStage()
  await stage.tables.addInstance('shop')
  const { membership, id } = await stage.join()
  const { nodes: seen, free } = membership
  await stage.tables.assignments.place([{ instance: 'shop', node: id }], 0)
  membership.noteNoneFree(seen)
  assert.deepEqual([free, membership.free], [1, 0])
})

test('an instance that became free after this node has placed others stays free', async () => {
  await using stage = new NodeStage()
  await stage.tables.addInstance('shop')
  const { membership, id } = await stage.join()
  const { nodes: seen } = membership
  await stage.tables.assignments.place([{ instance: 'shop', node: id }], 0)
  await stage.tables.addInstance('late')
  await stage.pass(1000)
  membership.noteNoneFree(seen)
  assert.equal(membership.free, 1)
})

test('a reading that began before the node was buried takes nothing under the old id', async () => {
  await using stage = new NodeStage()
  const { nodes, assignments } = stage.tables
  const heldBy = assignments.heldBy.bind(assignments)
  const [isHeldUp, goOn] = [{ now: false }, Promise.withResolvers<undefined>()]
  assignments.heldBy = async (id) => {
    const rows = await heldBy(id)
    if (isHeldUp.now) await goOn.promise
    return rows
  }
  const node = await stage.join()
  const before = node.id
  await stage.tables.addInstance('shop')
  isHeldUp.now = true
  await assignments.place([{ instance: 'shop', node: before }], 0)
  await stage.clock.advance(600)
  const beat = (await nodes.beat('')).nodes[0]?.beat ?? 0
  assert.ok(await nodes.bury({ id: before, beat }, [], 0))
  await stage.clock.advance(1500)
  assert.notEqual(node.id, before)
  isHeldUp.now = false
  goOn.resolve(undefined)
  await stage.pass(1000)
  assert.deepEqual(node.holder.calls, ['isolated', 'back'])
})

test('a reading that began before a deletion does not bring the deleted instance back', async () => {
  await using stage = new NodeStage()
  const { assignments } = stage.tables
  const node = await stage.join()
  await stage.give(node, 'shop')
  const hold = node.membership.holdOf('shop')
  const heldBy = assignments.heldBy.bind(assignments)
  const goOn = Promise.withResolvers<undefined>()
  assignments.heldBy = async (id) => {
    const rows = await heldBy(id)
    await goOn.promise
    return rows
  }
  node.membership.lookNow()
  await stage.clock.advance(100)
  assignments.heldBy = heldBy
  await assignments.handOver(hold, 'no node', 0)
  node.membership.dropDeleted('shop')
  goOn.resolve(undefined)
  await stage.pass(1000)
  assert.deepEqual(node.holder.calls, [`take shop ${hold.epoch}`, `lose shop ${hold.epoch}`])
  await assignments.place([{ instance: 'shop', node: node.id }], 0)
  await stage.pass(1000)
  assert.deepEqual(node.holder.connected, ['shop'], 'a new one of the name is taken')
})

test('a wish for a node that has just joined is kept, and an instance in quarantine is not taken', async () => {
  await using stage = new NodeStage()
  const node = await stage.join()
  await stage.give(node, 'shop', 'bar')
  const { nodes, assignments } = stage.tables
  const fresh = { name: 'new', address: 'http://new', build: '1', protocol: 1, settingsHash: '', capacity: 1 }
  await stage.pass(250)
  await nodes.join({ ...fresh, id: 'new' }, 0)
  await assignments.wish([
    { instance: 'shop', from: node.id, to: 'new', askedAt: 1 },
    { instance: 'bar', from: node.id, to: 'gone', askedAt: 1 },
  ])
  node.membership.lookNow()
  await stage.pass(50)
  assert.equal(node.holder.calls.length, 2, 'it has not seen the new node yet')
  await stage.pass(1000)
  assert.match(node.holder.calls.at(-1) ?? '', /^give shop/)
  await stage.pass(1000)
  assert.deepEqual(
    (await assignments.moves()).map(({ to }) => to),
    ['new'],
  )
  await assignments.quarantine(node.membership.holdOf('shop'), 0)
  node.membership.lookNow()
  await stage.pass(1000)
  assert.deepEqual(node.holder.connected, ['bar'])
})

test('the beat waits for no work that follows from it', async () => {
  await using stage = new NodeStage()
  const [node, other] = [await stage.join(), await stage.join()]
  const never = Promise.withResolvers<undefined>()
  node.holder.onTake = () => never.promise
  const heldBy = stage.tables.assignments.heldBy.bind(stage.tables.assignments)
  await stage.tables.addInstance('shop')
  await stage.tables.assignments.place([{ instance: 'shop', node: node.id }], 0)
  await stage.pass(1000)
  stage.tables.assignments.heldBy = async (id) => (await never.promise, heldBy(id))
  await stage.tables.addInstance('bar')
  await stage.tables.assignments.place([{ instance: 'bar', node: node.id }], 0)
  await stage.clock.advance(20_000)
  assert.deepEqual([node.membership.state, other.membership.state], ['active', 'active'])
  assert.equal(node.membership.renewed().beatAgeMs < 600, true)
  never.resolve(undefined)
})

test('a node that drains tells it, and is drained when it holds nothing or when no other node is there', async () => {
  await using stage = new NodeStage()
  const node = await stage.join()
  const other = await stage.join()
  await stage.give(node, 'shop')
  const drained = node.membership.drain()
  let isDrained = false
  void drained.then(() => (isDrained = true))
  await stage.pass(2000)
  assert.deepEqual([node.membership.state, isDrained], ['draining', false])
  assert.equal(other.membership.nodes.find(({ id }) => id === node.id)?.state, 'draining')
  await stage.tables.assignments.handOver(node.membership.holdOf('shop'), other.id, 0)
  node.membership.lookNow()
  await stage.until(drained)
  await stage.until(node.membership[Symbol.asyncDispose]())
  await stage.pass(1000)
  await stage.until(other.membership.drain())
  assert.deepEqual(other.holder.connected, ['shop'], 'the last node keeps what it holds until it ends')
})

test('a node that drains does not wait for a cell, which takes nothing from it', async () => {
  await using stage = new NodeStage()
  const [node, cell] = [await stage.join(), await stage.join()]
  await stage.tables.nodes.setCapacity(cell.id, 0)
  await stage.give(node, 'shop')
  let isDrained = false
  void node.membership.drain().then(() => (isDrained = true))
  await stage.pass(2000)
  assert.equal(isDrained, true)
})

test('a node that is buried while it drains does not join again', async () => {
  await using stage = new NodeStage()
  const [node, other] = [await stage.join(), await stage.join()]
  await stage.give(node, 'shop')
  const drained = node.membership.drain()
  await stage.pass(600)
  const { id, beat } = (await stage.tables.nodes.beat('')).nodes.find((each) => each.id === node.id) ?? {
    id: '',
    beat: 0,
  }
  node.mayBeWrong = true
  assert.ok(await stage.tables.nodes.bury({ id, beat }, [{ instance: 'shop', node: other.id }], 0))
  await stage.until(drained)
  await stage.pass(2000)
  assert.equal(node.membership.state, 'draining')
  assert.deepEqual([node.holder.connected, other.holder.connected], [[], ['shop']])
  assert.equal((await stage.tables.nodes.beat('')).nodes.length, 1)
})
