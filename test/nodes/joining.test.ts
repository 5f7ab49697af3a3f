// When a process may become a node: alone, beside others, after a restart.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeStage } from '../harness/nodes/node-stage.ts'

const alone = { address: '' }

test('a second process alone waits as a standby and takes over at once when the first one ends', async () => {
  await using stage = new NodeStage()
  const first = await stage.join(alone)
  await stage.give(first, 'shop')
  const second = stage.newNode(alone)
  const joined = second.membership.join()
  await stage.pass(20_000)
  assert.deepEqual([second.membership.state, second.membership.isRefused], ['standby', true])
  const warnings = second.recorded.withMessage('another process owns the accounts, waiting')
  assert.deepEqual(
    warnings.map(({ holder }) => holder),
    ['node-1'],
  )
  assert.equal((await stage.tables.nodes.beat('')).nodes.length, 1, 'a standby is no node')
  const ended = stage.clock.monotonic()
  await stage.until(first.membership[Symbol.asyncDispose]())
  await stage.until(joined)
  assert.ok(stage.clock.monotonic() - ended <= 1000)
  assert.deepEqual([second.membership.state, second.membership.predecessorMayRun], ['active', false])
})

test('a standby gives up after a minute and names the process that acts', async () => {
  await using stage = new NodeStage()
  await stage.join({ ...alone, name: 'host-a pid 7 (aa) at place' })
  const givenUp = assert.rejects(stage.newNode(alone).membership.join(), {
    name: 'StartError',
    message: /^host-a pid 7 \(aa\) owns the accounts of this database: stop that process/,
  })
  await stage.pass(59_000)
  assert.equal(stage.all[1]?.membership.state, 'standby')
  await stage.pass(3000)
  await givenUp
})

test('the time in which the database does not answer is not counted', async () => {
  await using stage = new NodeStage()
  const first = await stage.join(alone)
  const second = stage.newNode(alone)
  const joined = second.membership.join()
  await stage.pass(50_000)
  second.process.database = 'refused'
  await stage.pass(120_000)
  assert.ok(second.recorded.withMessage('the nodes of the database could not be asked for').length <= 5)
  second.process.database = 'up'
  await stage.pass(3000)
  await stage.until(first.membership[Symbol.asyncDispose]())
  await stage.until(joined)
})

test('a standby takes over when the node that acts stands still for 4 s, and inherits its instances', async () => {
  await using stage = new NodeStage()
  const first = await stage.join(alone)
  await stage.give(first, 'shop')
  const second = stage.newNode(alone)
  const joined = second.membership.join()
  await stage.pass(5000)
  const killed = stage.clock.monotonic()
  first.process.isDead = true
  await stage.until(joined)
  const took = stage.clock.monotonic() - killed
  assert.ok(took >= 3500 && took <= 5000, `${took} ms`)
  await stage.pass(1000)
  assert.deepEqual([second.holder.connected, second.membership.predecessorMayRun], [['shop'], true])
})

test('a process on the same machine whose predecessor is dead takes over at once', async () => {
  await using stage = new NodeStage()
  const first = await stage.join({ ...alone, name: 'dead one' })
  await stage.give(first, 'shop')
  first.process.isDead = true
  const start = stage.clock.monotonic()
  const second = await stage.join({ ...alone, isDead: (name) => name === 'dead one' })
  assert.ok(stage.clock.monotonic() - start <= 100)
  await stage.pass(100)
  assert.deepEqual([second.holder.connected, second.membership.predecessorMayRun], [['shop'], false])
})

test('a node with an address restarts at once, too: its dead predecessor does not keep its instances for 4 s', async () => {
  await using stage = new NodeStage()
  const first = await stage.join({ name: 'dead one' })
  await stage.give(first, 'shop')
  first.process.isDead = true
  const second = await stage.join({ isDead: (name) => name === 'dead one' })
  await stage.pass(100)
  assert.deepEqual(second.holder.connected, ['shop'])
})

test('a row of our own whose answer was lost hinders nothing and is removed', async () => {
  await using stage = new NodeStage()
  const join = stage.tables.nodes.join.bind(stage.tables.nodes)
  let answers = 0
  stage.tables.nodes.join = async (node, now) => {
    await join(node, now)
    if (answers++ === 0) throw new Error('the answer was lost')
  }
  const start = stage.clock.monotonic()
  const node = await stage.join(alone)
  assert.ok(stage.clock.monotonic() - start <= 1000)
  await stage.pass(1000)
  const { nodes } = await stage.tables.nodes.beat('')
  assert.deepEqual(
    nodes.map(({ id }) => id),
    [node.id],
  )
})

test('of several processes alone that start at the same time exactly one becomes a node', async () => {
  for (let round = 0; round < 10; round++) {
    await using stage = new NodeStage()
    const nodes = [1, 2, 3].map(() => stage.newNode(alone))
    const joins = nodes.map(({ membership }) => membership.join().catch(() => undefined))
    await stage.pass(20_000)
    const active = nodes.filter(({ membership }) => membership.state === 'active')
    assert.equal(active.length, 1)
    const living = (await stage.tables.nodes.beat('')).nodes.map(({ id }) => id)
    assert.ok(living.includes(active[0]?.id ?? ''))
    for (const { membership } of nodes) await stage.until(membership[Symbol.asyncDispose]())
    await Promise.all(joins)
  }
})

test('a node with an address refuses to run beside a living one without, and says what to do', async () => {
  await using stage = new NodeStage()
  await stage.join({ ...alone, name: 'host-a pid 7 (aa)' })
  const refused = assert.rejects(stage.newNode().membership.join(), {
    name: 'StartError',
    message: /^host-a pid 7 \(aa\) runs alone on this database: stop it, set SERVICE_NODE_LISTEN/,
  })
  await stage.pass(2000)
  await refused
  assert.equal((await stage.tables.nodes.beat('')).nodes.length, 1)
})

test('a node with an address takes over from a dead one without', async () => {
  await using stage = new NodeStage()
  const first = await stage.join(alone)
  await stage.give(first, 'shop')
  first.process.isDead = true
  const second = await stage.join()
  await stage.pass(1000)
  assert.deepEqual(second.holder.connected, ['shop'])
})

test('a process alone waits while nodes with an address live', async () => {
  await using stage = new NodeStage()
  const nodes = [await stage.join(), await stage.join()]
  const single = stage.newNode(alone)
  const joined = single.membership.join()
  await stage.pass(10_000)
  assert.equal(single.membership.state, 'standby')
  for (const { membership } of nodes) await stage.until(membership[Symbol.asyncDispose]())
  await stage.until(joined)
  assert.equal(single.membership.state, 'active')
})

test('a node of an older protocol than the nodes agreed on does not join', async () => {
  await using stage = new NodeStage()
  await assert.rejects(stage.newNode({ protocol: 0 }).membership.join(), {
    name: 'StartError',
    message: /newer version/,
  })
})

test('a process alone that another one buried waits, and ends when that one lives', async () => {
  await using stage = new NodeStage()
  const first = await stage.join(alone)
  await stage.give(first, 'shop')
  first.stop()
  const second = await stage.join(alone)
  await stage.pass(1000)
  await first.process.continue()
  await stage.pass(1000)
  assert.deepEqual([first.membership.state, first.holder.connected, second.holder.connected], ['standby', [], ['shop']])
  await stage.pass(65_000)
  assert.match(first.events.join(), /^fatal: node-2 owns the accounts of this database/)
})

test('a process that is stopped while it waits ends at once and leaves no row', async () => {
  await using stage = new NodeStage()
  await stage.join(alone)
  const second = stage.newNode(alone)
  const stopped = assert.rejects(second.membership.join(), /stopped while waiting/)
  await stage.pass(1000)
  await second.membership[Symbol.asyncDispose]()
  await stopped
  assert.equal((await stage.tables.nodes.beat('')).nodes.length, 1)
})

test('a row that is written during the stop is ended', async () => {
  await using stage = new NodeStage()
  const join = stage.tables.nodes.join.bind(stage.tables.nodes)
  const written = Promise.withResolvers<undefined>()
  stage.tables.nodes.join = async (node, now) => {
    await written.promise
    await join(node, now)
  }
  const node = stage.newNode()
  const stopped = assert.rejects(node.membership.join(), /stopped while/)
  await stage.clock.advance(10)
  const disposed = node.membership[Symbol.asyncDispose]()
  written.resolve(undefined)
  await Promise.all([stopped, disposed])
  assert.equal((await stage.tables.nodes.beat('')).nodes.length, 0)
})
