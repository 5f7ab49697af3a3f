// A listener of any node hears what happens at all nodes: each event once, and those of an instance in order.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { peerRoutes } from '../../src/nodes/peer-routes.ts'
import { hashOf, NodeSignature } from '../../src/nodes/signature.ts'
import { Relay } from '../e2e/nodes/harness/relay.ts'
import { EventStream } from '../harness/event-stream.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { apiToken, nodeSecret, TestNode } from './harness/two-nodes.ts'

/** Nodes that see each other. */
async function startNodes<Names extends string[]>(...names: Names) {
  const stack = new AsyncDisposableStack()
  const nodes: TestNode[] = []
  for (const id of names) nodes.push(stack.use(await TestNode.start({ id })))
  for (const node of nodes) node.others = nodes.filter((each) => each !== node).map(({ peer }) => peer)
  const listen = async (node: TestNode, lastId?: string) => {
    const stream = stack.use(await EventStream.open(node.url, { lastId }))
    await stream.next('hello')
    return stream
  }
  const more = { [Symbol.asyncDispose]: () => stack.disposeAsync() }
  return { nodes: nodes as { [Index in keyof Names]: TestNode }, listen, ...more }
}

const say = ({ hub }: TestNode, text: string) => {
  hub.publish('alert', () => ({ text }))
}
const show = ({ hub }: TestNode, state: string) => {
  hub.publish('instance', () => ({ name: 'shop', state }), 'shop')
}
const textsOf = (stream: EventStream) => stream.of('alert').map(({ data }) => data['text'])
const kindsOf = (stream: EventStream) => stream.events.map(({ event }) => event)

/** What the node was told last has been heard: everything before it has, too. */
async function hears(stream: EventStream, node: TestNode, text: string): Promise<void> {
  say(node, text)
  await stream.next('alert', (data) => data['text'] === text)
}

test('a listener hears the events of all nodes, each once and in order, from its greeting on', async () => {
  await using stage = await startNodes('one', 'two', 'three')
  const [one, two, three] = stage.nodes
  const streams = [await stage.listen(one), await stage.listen(one), await stage.listen(two)]
  for (let index = 0; index < 20; index++) say(three, `c${index}`)
  say(one, 'a')
  say(two, 'b')
  for (const stream of streams) {
    await stream.next('alert', ({ text }) => text === 'c19')
    await stream.next('alert', ({ text }) => text === 'a')
    await stream.next('alert', ({ text }) => text === 'b')
    const texts = textsOf(stream)
    assert.equal(texts.length, 22)
    assert.deepEqual(
      texts.filter((text) => String(text).startsWith('c')),
      Array.from({ length: 20 }, (_, index) => `c${index}`),
    )
    assert.deepEqual(stream.of('reset'), [])
    assert.equal(new Set(stream.events.map(({ id }) => id)).size, stream.events.length, 'the ids are of one node')
  }
})

test('an event goes from one node to another and never further', async () => {
  await using stage = await startNodes('one', 'two', 'three')
  const [one, two, three] = stage.nodes
  // It hears the second node only, which has a listener of its own and hears all.
  one.others = [two.peer]
  const [at1, at2] = [await stage.listen(one), await stage.listen(two)]
  await hears(at2, three, 'from three')
  await hears(at1, two, 'from two')
  assert.deepEqual(textsOf(at1), ['from two'])
})

describe('streams between nodes', () => {
  test('are open while there is a listener, and for a minute after the last one', async () => {
    await using stage = await startNodes('one', 'two')
    const [one, two] = stage.nodes
    await one.liveClock.advance(5000)
    assert.deepEqual([two.hub.isCollecting, one.liveClock.pending], [false, 0])
    const stream = await stage.listen(one)
    assert.equal(two.hub.isCollecting, true)
    const begun = one.liveClock.now()
    stream[Symbol.dispose]()
    await waitUntil('the stream is closed', async () => {
      for (const node of stage.nodes) await node.liveClock.advance(5000)
      return !two.hub.isCollecting
    })
    assert.ok(one.liveClock.now() - begun >= 60_000)
    assert.deepEqual([one.liveClock.pending, one.hub.isCollecting], [0, false])
  })

  test('do not keep each other open', async () => {
    await using stage = await startNodes('one', 'two')
    const [one, two] = stage.nodes
    await stage.listen(one)
    await two.liveClock.advance(5000)
    assert.equal(one.hub.isCollecting, true)
    say(one, 'not heard by the second node')
    assert.equal(two.liveClock.pending, 1, 'only the comment for the first node is planned')
  })

  test('end with the node, without waiting', async () => {
    await using stage = await startNodes('one', 'two')
    const [one, two] = stage.nodes
    await stage.listen(one)
    const before = performance.now()
    await two[Symbol.asyncDispose]()
    assert.ok(performance.now() - before < 4000)
  })
})

describe('a listener that comes back', () => {
  test('gets what it missed, also of other nodes', async () => {
    await using stage = await startNodes('one', 'two')
    const [one, two] = stage.nodes
    using witness = await stage.listen(one)
    const first = await stage.listen(one)
    await hears(first, two, '1')
    first[Symbol.dispose]()
    await hears(witness, two, '2')
    const second = await stage.listen(one, first.lastId)
    await hears(second, two, '3')
    assert.deepEqual([textsOf(second), second.of('reset')], [['2', '3'], []])
  })

  test('starts anew when a stream has ended meanwhile', async () => {
    await using stage = await startNodes('one', 'two')
    const [one, two] = stage.nodes
    using witness = await stage.listen(one)
    const first = await stage.listen(one)
    await hears(first, two, '1')
    first[Symbol.dispose]()
    one.others = []
    await one.liveClock.advance(1000)
    await witness.next('reset')
    assert.deepEqual(kindsOf(await stage.listen(one, first.lastId)), ['hello', 'reset'])
  })
})

describe('listeners are told to start anew', () => {
  test('when a node joins, and then they hear it', async () => {
    await using stage = await startNodes('one', 'two')
    const [one, two] = stage.nodes
    one.others = []
    const stream = await stage.listen(one)
    assert.equal(two.hub.isCollecting, false)
    one.others = [two.peer]
    await one.liveClock.advance(1000)
    await stream.next('reset')
    await hears(stream, two, 'after')
    assert.deepEqual(kindsOf(stream), ['hello', 'reset', 'alert'])
  })

  test('when a node is gone', async () => {
    await using stage = await startNodes('one', 'two')
    const [one, two] = stage.nodes
    const stream = await stage.listen(one)
    await two[Symbol.asyncDispose]()
    await one.liveClock.advance(3000)
    assert.deepEqual(kindsOf(stream), ['hello'], 'it may come back')
    one.others = []
    await one.liveClock.advance(1000)
    await stream.next('reset')
    await hears(stream, one, 'after')
    assert.deepEqual(kindsOf(stream), ['hello', 'reset', 'alert'])
  })

  test('when the stream of a living node is lost and begins again', async () => {
    await using stage = await startNodes('one', 'two')
    const [one, two] = stage.nodes
    const { hostname: host, port } = new URL(two.address)
    await using relay = await Relay.to({ host, port: Number(port) })
    one.others = [{ ...two.peer, address: `http://127.0.0.1:${relay.port}` }]
    const stream = await stage.listen(one)
    await hears(stream, two, 'before')
    relay.close()
    say(two, 'missed')
    await one.liveClock.advance(5000)
    relay.heal()
    await waitUntil('the stream has begun again', async () => {
      await one.liveClock.advance(1000)
      return stream.of('reset').length > 0
    })
    await hears(stream, two, 'after')
    assert.deepEqual(kindsOf(stream), ['hello', 'alert', 'reset', 'alert'])
  })

  test('when a node was silent for so long that its stream was given up', async () => {
    await using stage = await startNodes('one', 'two')
    const [one, two] = stage.nodes
    const stream = await stage.listen(one)
    await one.liveClock.advance(35_000)
    await waitUntil('the stream has begun again', async () => {
      await one.liveClock.advance(1000)
      return stream.of('reset').length > 0
    })
    await hears(stream, two, 'after')
  })
})

test('a node that cannot be reached keeps a listener waiting for a second, and is named once', async () => {
  await using stage = await startNodes('one', 'two')
  const [one, two] = stage.nodes
  await using relay = await Relay.to({ host: '127.0.0.1', port: 1 })
  relay.cut()
  one.others = [{ ...two.peer, address: `http://127.0.0.1:${relay.port}` }]
  const opening = stage.listen(one)
  await one.liveClock.advanceUntil(opening, 100)
  relay.close()
  await waitUntil('the log names the node', async () => {
    await one.liveClock.advance(5000)
    return one.logs.withMessage('the live events of another node cannot be heard').length > 0
  })
  await one.liveClock.advance(120_000)
  assert.equal(one.logs.withMessage('the live events of another node cannot be heard').length, 1)
  await hears(await opening, one, 'own events come')
})

test('a listener that hangs up before it is greeted leaves nothing behind', async () => {
  await using stage = await startNodes('one', 'two')
  const [one, two] = stage.nodes
  await using relay = await Relay.to({ host: '127.0.0.1', port: 1 })
  relay.cut()
  one.others = [{ ...two.peer, address: `http://127.0.0.1:${relay.port}` }]
  const asked = request(`${one.url}/api/events`, { headers: { authorization: `Bearer ${apiToken}` } })
  asked.on('error', () => undefined).end()
  await waitUntil('it waits for the other node', () => one.hub.isCollecting)
  asked.destroy()
  await waitUntil('the node has noticed', () => one.seen.some(({ hungUp }) => hungUp))
  await one.liveClock.advance(61_000)
  assert.equal(one.hub.isCollecting, false)
})

test('a node that does not read is cut off, and costs no more memory', async () => {
  await using node = await TestNode.start({ id: 'one' })
  using stalled = await openStalled(node)
  assert.equal(node.hub.isCollecting, true)
  const text = 'x'.repeat(100_000)
  await waitUntil('the node is cut off', () => {
    say(node, text)
    return !node.hub.isCollecting
  })
  await stalled.readToTheEnd()
})

async function openStalled({ id, address }: TestNode) {
  const path = peerRoutes.events
  const signature = new NodeSignature(nodeSecret, systemClock)
  const headers = signature.sign({ target: id, method: 'POST', path, head: '', bodyHash: hashOf('{}') })
  const asked = request(address + path, { method: 'POST', headers })
  asked.on('error', () => undefined)
  asked.end('{}')
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.on('error', () => undefined)
  return {
    async readToTheEnd() {
      answer.resume()
      await once(answer, 'close')
    },
    [Symbol.dispose]: () => void asked.destroy(),
  }
}

describe('an instance that moves', () => {
  test('is shown as its newest holder tells it, in any order of the events', async () => {
    await using stage = await startNodes('one', 'two', 'three')
    const [one, two, three] = stage.nodes
    const stream = await stage.listen(one)
    two.epochs.set('shop', 3)
    three.epochs.set('shop', 4)
    show(two, 'ready')
    await stream.next('instance')
    show(three, 'connecting')
    await stream.next('instance', ({ state }) => state === 'connecting')
    show(two, 'disconnected')
    await hears(stream, two, 'the late event has come')
    assert.deepEqual(
      stream.of('instance').map(({ data }) => data['state']),
      ['ready', 'connecting'],
    )
  })

  test('to this node, or away from it without its knowledge, is not shown as its old holder tells it', async () => {
    await using stage = await startNodes('one', 'two')
    const [one, two] = stage.nodes
    const stream = await stage.listen(one)
    one.epochs.set('shop', 5)
    two.epochs.set('shop', 4)
    show(two, 'old')
    await hears(stream, two, 'the late event has come')
    two.epochs.set('shop', 6)
    show(two, 'new')
    await stream.next('instance')
    show(one, 'old')
    await hears(stream, one, 'nothing was told')
    assert.deepEqual(
      stream.of('instance').map(({ data }) => data['state']),
      ['new'],
    )
  })
})
