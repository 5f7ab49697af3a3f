import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { limitConnections } from './connection-limit.ts'

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
  const ask = async () => {
    const asked = once(server, 'request')
    const opened = await open('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await asked
    return opened
  }
  return {
    open,
    ask,
    answers,
    [Symbol.dispose]() {
      server.close().closeAllConnections()
    },
  }
}

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
