// What a failed request tells about itself: certainly not sent, or perhaps processed.

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { LoopbackServer } from '../../../test/harness/loopback-server.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { RawServer } from '../../../test/harness/raw-server.ts'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import { Egress } from './egress.ts'
import type { EgressOptions, EgressRequest } from './egress.ts'
import { EgressError } from './errors.ts'
import { privateAllowed } from './policy.ts'

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

function client(options: Partial<EgressOptions> = {}): Egress {
  return new Egress({ policy: privateAllowed, ...options })
}

async function failure(egress: Egress, request: Partial<EgressRequest> & { url: string }): Promise<EgressError> {
  const result: unknown = await egress
    .request({ method: 'POST', body: '{}', timeoutMs: 15_000, ...request })
    .catch((error: unknown) => error)
  assert.ok(result instanceof EgressError, `an EgressError, not ${String(result)}`)
  return result
}

const facts = ({ reason, sent, outcome }: EgressError) => ({ reason, sent, outcome })
const notSent = (reason: string) => ({ reason, sent: 'nothing', outcome: 'not_sent' })
const unknown = (reason: string) => ({ reason, sent: 'all', outcome: 'unknown' })

test('with a refused connection, an unknown name or a failed handshake the request is certainly not sent', async () => {
  const gone = await RawServer.start()
  const closedUrl = gone.url
  await gone[Symbol.asyncDispose]()
  await using untrusted = await LoopbackServer.start(undefined, { protocol: 'https:' })
  await using plain = await LoopbackServer.start()
  await using hangsUp = await RawServer.start((socket) => socket.end())
  await using egress = client()
  const urls = [
    closedUrl,
    'http://no-such-host.invalid/',
    untrusted.url('localhost'),
    plain.url().replace('http:', 'https:'),
    hangsUp.url.replace('http:', 'https:'),
  ]
  for (const url of urls) {
    const error = await failure(egress, { url })
    assert.deepEqual(facts(error), notSent('unreachable'), url)
    assert.ok(error.message.includes(new URL(url).origin), error.message)
  }
  assert.equal(untrusted.requests + plain.requests, 0)
})

test('a connection that breaks after the request was written leaves the outcome unknown', async () => {
  const ways: Record<string, (socket: Socket) => void> = {
    reset: (socket) => socket.once('data', () => socket.resetAndDestroy()),
    end: (socket) => socket.once('data', () => socket.end()),
    garbage: (socket) => socket.once('data', () => socket.end('this is not HTTP\r\n\r\n')),
    'half a head': (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-')),
  }
  for (const [way, onSocket] of Object.entries(ways)) {
    await using server = await RawServer.start(onSocket)
    await using egress = client()
    const error = await failure(egress, { url: server.url })
    assert.deepEqual(facts(error), unknown('lost'), way)
    assert.equal(error.status, undefined, way)
    assert.equal(server.requests('POST'), 1, way)
  }
})

test('an answer that is cut off in its body keeps its status', async () => {
  const cut = 'HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\nhalf'
  await using server = await RawServer.start((socket) => socket.once('data', () => socket.end(cut)))
  await using egress = client()
  const error = await failure(egress, { url: server.url })
  assert.deepEqual(facts(error), unknown('lost'))
  assert.equal(error.status, 201)
})

test('after a server closed an idle connection a new one is opened, and every request is sent once', async () => {
  await using server = await RawServer.start((socket) => socket.on('data', () => socket.write(ok)))
  await using egress = client()
  for (let round = 1; round <= 5; round++) {
    await egress.request({ method: 'POST', url: server.url, body: '{}', timeoutMs: 15_000 })
    for (const socket of server.sockets) socket.end()
    await waitUntil('the connection is closed', () => server.sockets.size === 0)
    assert.equal(server.connections, round)
    assert.equal(server.requests('POST'), round)
  }
})

test('a POST on a kept connection that breaks is not repeated silently', async () => {
  let requests = 0
  await using server = await RawServer.start((socket) =>
    socket.on('data', () => (++requests === 1 ? socket.write(ok) : socket.resetAndDestroy())),
  )
  await using egress = client({ connectionsPerOrigin: 1 })
  await egress.request({ url: server.url, timeoutMs: 15_000 })
  assert.deepEqual(facts(await failure(egress, { url: server.url })), unknown('lost'))
  assert.equal(server.requests('POST'), 1)
  assert.equal(server.connections, 1)
})

test('no answer in time leaves the outcome unknown; no connection in time does not', async () => {
  const clock = new ManualClock()
  await using server = await RawServer.start()
  await using egress = client({ clock, connectionsPerOrigin: 1, connectTimeoutMs: 60_000 })
  const running = failure(egress, { url: server.url, timeoutMs: 20_000 })
  await waitUntil('the first request has come', () => server.requests('POST') === 1)
  const queued = failure(egress, { url: server.url, method: 'PUT', timeoutMs: 15_000 })
  await clock.advance(15_000)
  assert.deepEqual(facts(await queued), notSent('timeout'))
  await clock.advance(5_000)
  assert.deepEqual(facts(await running), unknown('timeout'))

  await using unresolved = client({ clock, lookup: () => undefined, connectTimeoutMs: 60_000 })
  const connecting = failure(unresolved, { url: 'http://silent.example/' })
  await clock.advance(15_000)
  assert.deepEqual(facts(await connecting), notSent('timeout'))
})

test('a request given up in the queue is never sent and costs no connection', async () => {
  await using server = await RawServer.start()
  await using egress = client({ connectionsPerOrigin: 1 })
  const first = egress.request({ method: 'POST', url: server.url, body: '{}', timeoutMs: 15_000 })
  await waitUntil('the first request has come', () => server.requests('POST') === 1)
  const stop = new AbortController()
  const givenUp = failure(egress, { url: server.url, method: 'PUT', signal: stop.signal })
  const third = egress.request({ method: 'PATCH', url: server.url, body: '{}', timeoutMs: 15_000 })
  stop.abort(new Error('not wanted'))
  assert.deepEqual(facts(await givenUp), notSent('aborted'))
  for (const socket of server.sockets) socket.write(ok)
  await first
  await waitUntil('the third request has come', () => server.requests('PATCH') === 1)
  for (const socket of server.sockets) socket.write(ok)
  await third
  assert.equal(server.requests('PUT'), 0)
  assert.equal(server.connections, 1)
})

test('an abort before the start opens no connection, one under way closes it', async () => {
  await using server = await RawServer.start()
  await using egress = client()
  const early = await failure(egress, { url: server.url, signal: AbortSignal.abort(new Error('too early')) })
  assert.deepEqual(facts(early), notSent('aborted'))
  assert.equal((early.cause as Error).message, 'too early')
  assert.equal(server.connections, 0)

  const stop = new AbortController()
  const running = failure(egress, { url: server.url, signal: stop.signal })
  await waitUntil('the request has come', () => server.requests('POST') === 1)
  stop.abort()
  assert.deepEqual(facts(await running), unknown('aborted'))
  await waitUntil('the connection is closed', () => server.sockets.size === 0)
})

test('a request body that fails reports whether a part of it had left', async () => {
  await using server = await RawServer.start()
  await using egress = client()
  const broken = new Readable({ read: () => undefined })
  const early = failure(egress, { url: server.url, body: broken })
  broken.destroy(new Error('the source broke'))
  assert.deepEqual(facts(await early), notSent('body_failed'))

  const partial = new PassThrough()
  partial.write('the first part')
  const late = failure(egress, { url: server.url, body: partial, bodyBytes: 1000 })
  await waitUntil('the first part has come', () => server.received.includes('the first part'))
  partial.destroy(new Error('the source broke'))
  assert.deepEqual(facts(await late), { reason: 'body_failed', sent: 'part', outcome: 'unknown' })

  for (const length of [1, 100]) {
    const wrong = await failure(egress, {
      url: server.url,
      body: Readable.from([Buffer.from('four')]),
      bodyBytes: length,
    })
    assert.equal(wrong.reason, 'body_failed')
    assert.notEqual(wrong.sent, 'all')
  }
})

test('an answer that comes before the end of the request body is used, and the rest is not sent', async () => {
  const early = 'HTTP/1.1 413 Payload Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
  await using server = await RawServer.start((socket) => socket.once('data', () => socket.end(early)))
  await using egress = client()
  const body = new PassThrough()
  body.write('the first part')
  const answer = await egress.request({ method: 'POST', url: server.url, body, bodyBytes: 1000, timeoutMs: 15_000 })
  assert.equal(answer.status, 413)
  await waitUntil('the source is closed', () => body.destroyed)
})

test('errors name the origin, never the path, which may hold a secret', async () => {
  await using server = await RawServer.start((socket) => socket.once('data', () => socket.end()))
  await using egress = client()
  const error = await failure(egress, { url: `${server.url}files/secret-token?key=hidden` })
  assert.ok(!/secret|hidden/.test(error.message), error.message)
})

test('an address that is no http URL and an invalid header are refused before a connection is opened', async () => {
  await using egress = client()
  for (const url of ['not a url', 'ftp://files.example/', 'file:///etc/passwd', 'http://']) {
    assert.deepEqual(facts(await failure(egress, { url })), notSent('refused'), url)
  }
  const injected = await failure(egress, { url: 'http://127.0.0.1:1/', headers: { 'x-name': 'a\r\nx-evil: 1' } })
  assert.equal(injected.outcome, 'not_sent')
})
