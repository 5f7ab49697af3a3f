// Runs alone: it counts the garbage collections of its process.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import type { PerformanceEntry } from 'node:perf_hooks'
import { test } from 'node:test'
import fastify from 'fastify'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { waitUntil } from '../../test/harness/wait-until.ts'
import { BodyMemory } from './body-memory.ts'

const mb = 1024 ** 2

/** An entry about a garbage collection. */
type GcEntry = PerformanceEntry & { detail: { flags: number } }

/** A server that takes 32 MB of bodies at once, lets bodies wait for 3 s, and answers when the test says so. */
async function setUp() {
  const clock = new ManualClock()
  const bodies = new BodyMemory({ clock, largestBody: 20 * mb })
  const app = fastify({ bodyLimit: 20 * mb, forceCloseConnections: true })
  const open: string[] = []
  const answers = new Map<string, () => void>()
  let admitted = 0
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => {
    done(null)
  })
  app.addHook('preParsing', async (request, reply) => {
    await bodies.admitInTime(request, reply, 3000)
    admitted++
  })
  app.post<{ Params: { name: string } }>('/:name', ({ params: { name } }) => {
    open.push(name)
    return new Promise<string>((resolve) => {
      answers.set(name, () => {
        resolve(name)
      })
    })
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const send = async (name: string, bytes: number) => {
    const timers = clock.pending
    const status = fetch(`${url}/${name}`, { method: 'POST', body: Buffer.alloc(bytes) }).then(
      (answer) => answer.status,
    )
    await waitUntil(`${name} is read or waits`, () => open.includes(name) || clock.pending > timers)
    return { status }
  }
  return {
    clock,
    open,
    admitted: () => admitted,
    send,
    /** Sends the head of a request and no body. */
    sendPart: (name: string, bytes: number) => sendText(url, name, `Content-Length: ${bytes}\r\n\r\n`),
    sendChunk: (name: string, chunk: string) =>
      sendText(url, name, `Transfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`),
    answer: (name: string) => answers.get(name)?.(),
    [Symbol.asyncDispose]: () => app.close(),
  }
}

async function sendText(url: string, name: string, text: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const closed = once(socket, 'close')
  socket.on('error', () => undefined).resume()
  socket.write(`POST /${name} HTTP/1.1\r\nHost: x\r\n${text}`)
  await once(socket, 'connect')
  return { socket, closed }
}

test('a large body waits until there is room, and one that fits does not wait', async () => {
  await using stage = await setUp()
  const first = await stage.send('first', 20 * mb)
  const second = await stage.send('second', 16 * mb)
  const third = await stage.send('third', 10 * mb)
  const small = await stage.send('small', 60_000)
  assert.deepEqual(stage.open, ['first', 'third', 'small'])
  stage.answer('first')
  await waitUntil('the second is read', () => stage.open.length === 4)
  for (const name of ['second', 'third', 'small']) stage.answer(name)
  for (const { status } of [first, second, third, small]) assert.equal(await status, 200)
})

test('a large body that finds no room in time is refused, and the next one gets its turn', async () => {
  await using stage = await setUp()
  const first = await stage.send('first', 20 * mb)
  const second = await stage.send('second', 16 * mb)
  await stage.clock.advance(1000)
  const third = await stage.send('third', 15 * mb)
  assert.deepEqual(stage.open, ['first'])
  await stage.clock.advance(2000)
  assert.equal(await second.status, 500, 'the error handler of the service makes it 503')
  stage.answer('first')
  await waitUntil('the third is read', () => stage.open.includes('third'))
  stage.answer('third')
  for (const { status } of [first, third]) assert.equal(await status, 200)
})

test('while others wait, the body that is longest incomplete is cut, and a body that was read is not', async () => {
  await using stage = await setUp()
  const read = await stage.send('read', 10 * mb)
  const slow = await stage.sendPart('slow', 15 * mb)
  await waitUntil('the slow body is admitted', () => stage.admitted() === 2)
  const waiting = await stage.send('waiting', 16 * mb)
  await stage.clock.advance(499)
  assert.equal(slow.socket.destroyed, false)
  await stage.clock.advance(1)
  await slow.closed
  await waitUntil('the body that waited is read', () => stage.open.includes('waiting'))
  for (const name of ['read', 'waiting']) stage.answer(name)
  for (const { status } of [read, waiting]) assert.equal(await status, 200)
})

test('of two bodies that come slowly only the older one is cut, when that makes enough room', async () => {
  await using stage = await setUp()
  const older = await stage.sendPart('older', 15 * mb)
  await waitUntil('the older body is admitted', () => stage.admitted() === 1)
  const newer = await stage.sendPart('newer', 15 * mb)
  await waitUntil('the newer body is admitted', () => stage.admitted() === 2)
  const waiting = await stage.send('waiting', 16 * mb)
  await stage.clock.advance(500)
  await older.closed
  await waitUntil('the body that waited is read', () => stage.open.includes('waiting'))
  await stage.clock.advance(1000)
  assert.equal(newer.socket.destroyed, false)
  stage.answer('waiting')
  assert.equal(await waiting.status, 200)
})

test('a short body of undeclared length counts as garbage with the bytes that came', async () => {
  await using stage = await setUp()
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    const forced = constants.NODE_PERFORMANCE_GC_FLAGS_FORCED
    for (const entry of list.getEntries() as GcEntry[]) if (entry.detail.flags === forced) collections++
  })
  observer.observe({ entryTypes: ['gc'] })
  const { socket } = await stage.sendChunk('short', 'x')
  await waitUntil('the short body is read', () => stage.open.includes('short'))
  const answered = once(socket, 'data')
  stage.answer('short')
  await answered
  for (const [name, bytes] of Object.entries({ long: 10 * mb, last: 1 })) {
    const { status } = await stage.send(name, bytes)
    stage.answer(name)
    assert.equal(await status, 200)
  }
  observer.disconnect()
  assert.equal(collections, 1, 'only the long body is worth a collection')
})
