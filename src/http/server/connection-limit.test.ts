import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import { limitConnections, reservedConnections } from './connection-limit.ts'

/** A server that takes two connections and answers when the test says so. */
async function setUp() {
  const server = createServer()
  const answers: ServerResponse[] = []
  server.on('request', (_request, response) => answers.push(response))
  limitConnections(server, 2)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const open = async (text: string) => {
    const accepted = once(server, 'connection')
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    await accepted
    const closed = new Promise((resolve) => socket.once('close', resolve))
    return { socket: socket.on('error', () => undefined).resume(), closed }
  }
  const ask = async (text = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n') => {
    const asked = once(server, 'request')
    const opened = await open(text)
    await asked
    return opened
  }
  return {
    open,
    ask,
    answers,
    server,
    [Symbol.dispose]() {
      server.close().closeAllConnections()
    },
  }
}

const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'
const begin = 'GET / HTTP/1.1\r\nHost:'

test('a connection above the limit displaces the one that is longest without a complete request', async () => {
  using stage = await setUp()
  const first = await stage.open(begin)
  const second = await stage.open(begin)
  const third = await stage.open(begin)
  await first.closed
  assert.equal(second.socket.destroyed, false)
  await stage.open(begin)
  await second.closed
  assert.equal(third.socket.destroyed, false)
})

test('a connection whose request is worked on is kept, until its answer is given', async () => {
  using stage = await setUp()
  const first = await stage.ask()
  const second = await stage.open(begin)
  await stage.open(begin)
  await second.closed
  assert.equal(first.socket.destroyed, false)
  const answered = once(first.socket, 'data')
  stage.answers[0]?.end('done')
  await answered
  await stage.open(begin)
  await first.closed
})

test('a connection with a long answer under way is kept', async () => {
  using stage = await setUp()
  const first = await stage.ask()
  first.socket.pause()
  stage.answers[0]?.end(Buffer.alloc(50 * 1024 ** 2))
  const second = await stage.open(begin)
  await stage.open(begin)
  await second.closed
  assert.equal(first.socket.destroyed, false)
})

test('when all connections are worked on, a new one is closed unless it asks with GET', async () => {
  using stage = await setUp()
  const all = [await stage.ask(post), await stage.ask(post)]
  const refused = await stage.ask(post)
  await refused.closed
  const probe = await stage.ask()
  const answered = once(probe.socket, 'data')
  stage.answers.at(-1)?.end('healthy')
  await answered
  for (const { socket } of all) assert.equal(socket.destroyed, false)
})

test('when the connections that are kept for GET are worked on, too, a new connection is closed at once', async () => {
  using stage = await setUp()
  const all = []
  for (let n = 0; n < 2 + reservedConnections; n++) all.push(await stage.ask())
  const refused = await stage.open(begin)
  await refused.closed
  for (const { socket } of all) assert.equal(socket.destroyed, false)
})

test('a burst of requests stays within the limit', async () => {
  using stage = await setUp()
  let accepted = 0
  stage.server.on('connection', () => accepted++)
  void Array.from({ length: 100 }, () => stage.open('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  await waitUntil('all connections were accepted', () => accepted === 100)
  const count = () => promisify(stage.server.getConnections.bind(stage.server))()
  await waitUntil('all above the limit are closed', async () => (await count()) <= 2 + reservedConnections)
})

test('a client that sends its next request before it has the answer is cut off', async () => {
  using stage = await setUp()
  const client = await stage.ask()
  client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.closed
})

test('a client that sends its next request after the answer keeps its connection', async () => {
  using stage = await setUp()
  const client = await stage.ask()
  for (const number of [0, 1, 2]) {
    const answered = once(client.socket, 'data')
    await waitUntil('the request has come', () => stage.answers.length > number)
    stage.answers[number]?.end('done')
    await answered
    client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  }
  assert.equal(client.socket.destroyed, false)
})
