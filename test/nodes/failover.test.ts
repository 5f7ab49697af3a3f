// Nodes that die, are cut off or are stopped. The stage checks at every step that no instance is connected twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeStage } from '../harness/nodes/node-stage.ts'

const since = (stage: NodeStage, start: number) => stage.clock.monotonic() - start

test('a node that was killed is buried after 4 s, within 4.6 s, and its instances count a crash', async () => {
  await using stage = new NodeStage()
  const [killed, other] = [await stage.join(), await stage.join()]
  await stage.pass(200)
  const third = await stage.join()
  await stage.give(killed, 'shop', 'bar')
  const [start, hold] = [stage.clock.monotonic(), killed.membership.holdOf('shop')]
  killed.process.isDead = true
  await stage.pass(3450)
  assert.deepEqual([other.holder.connected, third.holder.connected], [[], []])
  const taken = () => other.holder.connected.length + third.holder.connected.length
  while (taken() === 0) await stage.pass(50)
  await stage.pass(50)
  assert.equal(taken(), 2, 'the one that buried it takes its share at once and tells the other')
  assert.ok(since(stage, start) <= 4600, `${since(stage, start)} ms`)
  const row = await stage.tables.assignments.find('shop')
  assert.deepEqual([row?.crashes, row !== undefined && row.epoch > hold.epoch], [1, true])
  assert.deepEqual([...other.holder.connected, ...third.holder.connected].sort(), ['bar', 'shop'])
})

test('of two watchers that bury a node at the same time one succeeds, and the other changes nothing', async () => {
  await using stage = new NodeStage()
  const bury = stage.tables.nodes.bury.bind(stage.tables.nodes)
  const answers: boolean[] = []
  stage.tables.nodes.bury = async (...values) => {
    const answer = await bury(...values)
    answers.push(answer)
    return answer
  }
  const [killed, ...watchers] = [await stage.join(), await stage.join(), await stage.join()]
  await stage.give(killed, 'shop')
  for (const { process } of watchers) process.latencyMs = 200
  await stage.pass(2000)
  killed.process.isDead = true
  await stage.pass(8000)
  assert.deepEqual(answers, [true, false])
  const buried = watchers.map(({ recorded }) => recorded.withMessage('a node is dead, others take its instances'))
  assert.equal(buried.flat().length, 1)
  assert.equal((await stage.tables.assignments.find('shop'))?.crashes, 1)
})

test('the watcher looks again at the moment at which its patience ends, not with a later beat', async () => {
  await using stage = new NodeStage()
  const asked = new Map<string, number[]>()
  const { nodes } = stage.tables
  const [beat, bury] = [nodes.beat.bind(nodes), nodes.bury.bind(nodes)]
  nodes.beat = (id) => {
    asked.set(id, [...(asked.get(id) ?? []), stage.clock.monotonic()])
    return beat(id)
  }
  let buried = 0
  nodes.bury = (...values) => {
    buried = stage.clock.monotonic()
    return bury(...values)
  }
  const [watcher, killed] = [await stage.join(), await stage.join()]
  await stage.give(killed, 'shop')
  // The answer shows the last beat of the killed node 200 ms after the question, so the patience ends between two beats.
  watcher.process.latencyMs = 200
  await stage.pass(2000)
  const last = asked.get(killed.id)?.at(-1) ?? 0
  killed.process.isDead = true
  await stage.pass(6000)
  const seen = asked.get(watcher.id)?.find((time) => time >= last) ?? 0
  // 200 ms until it is seen, the patience, and two more answers: the beat and the assignments.
  assert.equal(buried - seen, 200 + 4000 + 400)
  assert.deepEqual(watcher.holder.connected, ['shop'])
})

for (const line of ['refused', 'silent'] as const) {
  test(`a node that alone is cut off (${line}) closes by 3.8 s, is buried after that, and joins again`, async () => {
    await using stage = new NodeStage()
    const [cut, other] = [await stage.join(), await stage.join()]
    await stage.give(cut, 'shop')
    const before = cut.id
    const start = stage.clock.monotonic()
    cut.process.database = line
    await stage.pass(2950)
    assert.deepEqual([cut.membership.state, cut.holder.connected], ['active', ['shop']])
    await stage.pass(600)
    assert.notEqual(cut.membership.state, 'active', 'it is past its own limit')
    while (!cut.holder.isIsolated) await stage.pass(50)
    assert.ok(since(stage, start) <= 3800, `closed after ${since(stage, start)} ms`)
    assert.equal(cut.membership.state, 'isolated')
    assert.deepEqual(other.holder.connected, [])
    while (other.holder.connected.length === 0) await stage.pass(50)
    assert.ok(since(stage, start) <= 4600, `taken after ${since(stage, start)} ms`)
    await stage.pass(20_000)
    cut.process.database = 'up'
    await stage.pass(2000)
    assert.deepEqual(
      cut.holder.calls
        .slice(-2)
        .map((call) => call.split(' ')[0])
        .sort(),
      ['back', 'lose'],
    )
    assert.deepEqual([cut.membership.state, cut.id === before], ['active', false])
    assert.deepEqual([cut.holder.connected, other.holder.connected], [[], ['shop']])
  })
}

test('a node that reaches neither the database nor another node closes by 3.8 s', async () => {
  await using stage = new NodeStage()
  const [cut, other] = [await stage.join(), await stage.join()]
  await stage.give(cut, 'shop')
  const start = stage.clock.monotonic()
  cut.process.database = 'silent'
  cut.process.peers = 'silent'
  while (!cut.holder.isIsolated) await stage.pass(50)
  assert.ok(since(stage, start) >= 3250 && since(stage, start) <= 3850, `closed after ${since(stage, start)} ms`)
  await stage.pass(2000)
  assert.deepEqual(other.holder.connected, ['shop'])
})

test('two nodes that are cut off together close, although they reach each other: the third one buries them', async () => {
  await using stage = new NodeStage()
  const [one, two, third] = [await stage.join(), await stage.join(), await stage.join()]
  await stage.give(one, 'shop')
  await stage.give(two, 'bar')
  for (const { process } of [one, two]) process.database = 'refused'
  third.process.peers = 'silent'
  await stage.pass(3850)
  assert.deepEqual([one.holder.isIsolated, two.holder.isIsolated], [true, true])
  await stage.pass(2000)
  assert.deepEqual(third.holder.connected, ['bar', 'shop'])
})

test('a node that is back before it was buried goes on with the same id and epochs', async () => {
  await using stage = new NodeStage()
  const [cut, other] = [await stage.join(), await stage.join()]
  await stage.give(cut, 'shop')
  const hold = cut.membership.holdOf('shop')
  cut.process.database = 'refused'
  while (!cut.holder.isIsolated) await stage.pass(50)
  cut.process.database = 'up'
  cut.membership.lookNow()
  other.process.database = 'refused'
  await stage.pass(700)
  other.process.database = 'up'
  await stage.pass(10_000)
  assert.deepEqual(cut.holder.calls, [`take shop ${hold.epoch}`, 'isolated', 'back'])
  assert.deepEqual([cut.membership.state, cut.membership.holdOf('shop')], ['active', hold])
})

test('a cut of 2.4 s changes nothing', async () => {
  await using stage = new NodeStage()
  const [cut, other] = [await stage.join(), await stage.join()]
  await stage.give(cut, 'shop')
  cut.process.database = 'refused'
  await stage.pass(2400)
  cut.process.database = 'up'
  await stage.pass(10_000)
  assert.deepEqual([cut.holder.calls.length, other.holder.calls.length, cut.membership.state], [1, 0, 'active'])
})

test('a node alone keeps its connections, however long the database is away, and goes on', async () => {
  await using stage = new NodeStage()
  const node = await stage.join({ address: '' })
  await stage.give(node, 'shop')
  const hold = node.membership.holdOf('shop')
  for (const line of ['refused', 'silent'] as const) {
    node.process.database = line
    await stage.pass(40_000)
    assert.deepEqual([node.membership.state, node.holder.connected], ['uncertain', ['shop']])
    node.process.database = 'up'
    await stage.pass(2000)
    assert.deepEqual([node.membership.state, node.membership.holdOf('shop')], ['active', hold])
  }
  assert.equal(node.holder.calls.length, 1)
})

test('a node is uncertain exactly 3.5 s after its last beat was sent', async () => {
  await using stage = new NodeStage()
  const node = await stage.join({ address: '' })
  while (node.membership.renewed().beatAgeMs > 0) await stage.clock.advance(10)
  node.process.database = 'refused'
  await stage.clock.advance(3499)
  assert.equal(node.membership.state, 'active')
  await stage.clock.advance(1)
  assert.equal(node.membership.state, 'uncertain')
})

test('a pause of 2.5 s moves nothing; after a longer one the node is buried, loses all and joins again', async () => {
  await using stage = new NodeStage()
  const [paused, other] = [await stage.join(), await stage.join()]
  await stage.give(paused, 'shop')
  const hold = paused.membership.holdOf('shop')
  paused.stop()
  await stage.pass(2500)
  await paused.process.continue()
  await stage.pass(10_000)
  assert.deepEqual([paused.holder.calls, other.holder.calls], [[`take shop ${hold.epoch}`], []])
  paused.stop()
  await stage.pass(10_000)
  assert.deepEqual(other.holder.connected, ['shop'])
  assert.notEqual(paused.membership.state, 'active', 'it is past its own limit when it wakes up')
  await paused.process.continue()
  await stage.pass(2000)
  assert.deepEqual([paused.membership.state, paused.holder.connected], ['active', []])
  assert.ok(paused.holder.calls.includes(`lose shop ${hold.epoch}`))
  await stage.pass(10_000)
  assert.deepEqual(other.holder.connected, ['shop'], 'the awakened node buries no other')
})

for (const first of ['timers', 'answers'] as const) {
  test(`an old answer that a node reads after a pause opens no connection (${first} first)`, async () => {
    await using stage = new NodeStage()
    const other = await stage.join()
    // The node is stopped while the answer to a beat is on its way.
    const beat = stage.tables.nodes.beat.bind(stage.tables.nodes)
    let onBeat: () => void = () => undefined
    stage.tables.nodes.beat = (id) => {
      onBeat()
      return beat(id)
    }
    const paused = await stage.join()
    await stage.give(paused, 'shop')
    paused.process.database = 'refused'
    while (!paused.holder.isIsolated) await stage.pass(50)
    onBeat = () => {
      onBeat = () => undefined
      paused.stop()
    }
    paused.process.database = 'up'
    while (!paused.process.isStopped) await stage.pass(10)
    await stage.pass(10_000)
    assert.deepEqual(other.holder.connected, ['shop'])
    await paused.process.continue(first)
    await stage.pass(3000)
    const calls = paused.holder.calls.map((call) => call.split(' ')[0])
    assert.deepEqual(calls, ['take', 'isolated', 'lose', 'back'])
  })
}
