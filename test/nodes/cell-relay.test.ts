// Other nodes reach a cell under the address of the node that started it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { peerRoutes, refusalHeader } from '../../src/nodes/peer-routes.ts'
import { EventStream } from '../harness/event-stream.ts'
import { requestFrom } from '../harness/http-request.ts'
import { RawServer } from '../harness/raw-server.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { apiToken as token, TestNode } from './harness/two-nodes.ts'

/** A cell, the node that started it, and another node, which knows that the cell holds every instance. */
async function startThree() {
  const stack = new AsyncDisposableStack()
  const cell = stack.use(await TestNode.start({ id: 'cell-1' }))
  const parent = stack.use(await TestNode.start({ id: 'parent-1' }))
  const stranger = stack.use(await TestNode.start({ id: 'stranger-1' }))
  parent.cells.set('key', cell.address)
  const peer = { id: cell.id, address: `${parent.address}/cells/key` }
  for (const node of [parent, stranger]) {
    node.owners.answers = [{ ...peer, epoch: 3 }]
    node.others = [peer]
  }
  return { cell, parent, stranger, peer, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const originOf = ({ url }: RawServer) => new URL(url).origin

describe('a cell behind its node', () => {
  test('requests of clients reach it through any node, with their bodies and answers', async () => {
    await using stage = await startThree()
    for (const node of [stage.parent, stage.stranger]) {
      const body = JSON.stringify({ text: 'a'.repeat(100_000) })
      const headers = { 'content-type': 'application/json' }
      const answer = await requestFrom(node.url, 'PATCH', '/api/instances/shop', { token, headers, body })
      assert.deepEqual([answer.status, answer.text], [200, body])
    }
    assert.equal(stage.cell.seen.length, 2)
    assert.equal(stage.parent.seen.length, 0)
  })

  test('what nodes tell each other reaches it', async () => {
    await using stage = await startThree()
    const { stranger, peer, cell } = stage
    await stranger.peers.look(peer)
    await stranger.peers.drain(peer, 'shop')
    assert.deepEqual(cell.told, ['look', 'drain shop'])
    assert.deepEqual(await stranger.peers.renewed(peer, 5000), { beatAgeMs: 250, watchedMs: 9000 })
    assert.deepEqual(stage.parent.told, [])
  })

  test('its events are heard at other nodes, and the stream ends when no node listens', async () => {
    await using stage = await startThree()
    const { stranger, cell, peer } = stage
    using stream = await EventStream.open(stranger.url)
    await stream.next('hello')
    cell.hub.publish('alert', () => ({ text: 'from the cell' }))
    await stream.next('alert', ({ text }) => text === 'from the cell')
    const over = new AbortController()
    const events = await stranger.peers.events(peer, over.signal)
    const ended = new Promise((resolve) => events.once('error', resolve).once('close', resolve))
    over.abort()
    await ended
  })

  test('the cell judges the signature', async () => {
    await using stage = await startThree()
    const answer = await requestFrom(stage.parent.address, 'POST', `/cells/key${peerRoutes.look}`, { body: '{}' })
    assert.deepEqual([answer.status, stage.cell.told], [401, []])
  })

  test('a key of no cell is refused like the id of another node', async () => {
    await using stage = await startThree()
    const answer = await requestFrom(stage.parent.address, 'POST', `/cells/other${peerRoutes.look}`, { body: '{}' })
    assert.deepEqual([answer.status, answer.headers.get(refusalHeader)], [421, 'other_node'])
  })

  test('a cell that is gone looks like a node that is gone, and its node goes on', async () => {
    await using stage = await startThree()
    await stage.cell[Symbol.asyncDispose]()
    const { status } = await requestFrom(stage.stranger.url, 'PATCH', '/api/instances/shop', { token, body: '{}' })
    assert.equal(status, 504)
    assert.equal((await requestFrom(stage.parent.url, 'GET', '/api/nothing', { token })).status, 404)
  })

  test('a cell that is killed in the middle of an answer does no harm to its node', async () => {
    await using stage = await startThree()
    await using dying = await RawServer.start((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', () => socket.resetAndDestroy())
      })
    })
    stage.parent.cells.set('dying', originOf(dying))
    await assert.rejects(requestFrom(stage.parent.address, 'POST', '/cells/dying/internal/look', { body: '{}' }))
    assert.equal((await requestFrom(stage.parent.url, 'GET', '/api/nothing', { token })).status, 404)
  })

  test('a cell hears that the other node has hung up before it answered', async () => {
    await using stage = await startThree()
    const over = new AbortController()
    await using silent = await RawServer.start((socket) => {
      socket.once('data', () => {
        over.abort()
      })
    })
    stage.parent.cells.set('silent', originOf(silent))
    const url = `${stage.parent.address}/cells/silent${peerRoutes.look}`
    await assert.rejects(fetch(url, { method: 'POST', body: '{}', signal: over.signal }))
    await waitUntil('the cell has heard it', () => silent.connections === 1 && silent.sockets.size === 0)
  })

  test('a cell that ends in the middle of an answer takes the stream with it, and its node goes on', async () => {
    await using stage = await startThree()
    const { stranger, peer, cell, parent } = stage
    const events = await stranger.peers.events(peer, new AbortController().signal)
    const ended = new Promise((resolve) => events.once('error', resolve).once('close', resolve))
    events.resume()
    await cell[Symbol.asyncDispose]()
    await ended
    assert.equal((await requestFrom(parent.url, 'GET', '/api/nothing', { token })).status, 404)
  })
})
