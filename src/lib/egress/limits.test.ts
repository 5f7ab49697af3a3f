// Time and size: nothing a server does keeps a request, its memory or its connection longer than agreed.

import assert from 'node:assert/strict'
import type { RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { LoopbackServer } from '../../../test/harness/loopback-server.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { RawServer } from '../../../test/harness/raw-server.ts'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import { Egress } from './egress.ts'
import type { EgressOptions } from './egress.ts'
import { EgressError } from './errors.ts'
import { privateAllowed } from './policy.ts'

const kilobyte = 1024

function client(options: Partial<EgressOptions> = {}): Egress {
  return new Egress({ policy: privateAllowed, ...options })
}

function watch(work: Promise<unknown>): { result: () => unknown } {
  let result: unknown = 'pending'
  work.then(
    (value) => (result = value),
    (error: unknown) => (result = error instanceof EgressError ? error.reason : error),
  )
  return { result: () => result }
}

/** A server whose answers the test writes piece by piece. */
class WritableServer {
  readonly #server: LoopbackServer
  readonly #responses: ServerResponse[]

  private constructor(server: LoopbackServer, responses: ServerResponse[]) {
    this.#server = server
    this.#responses = responses
  }

  static async start(): Promise<WritableServer> {
    const responses: ServerResponse[] = []
    const server = await LoopbackServer.start((_, response) => responses.push(response))
    return new WritableServer(server, responses)
  }

  get url(): string {
    return this.#server.url()
  }

  get isLeft(): boolean {
    return this.#server.sockets.size === 0
  }

  async response(): Promise<ServerResponse> {
    await waitUntil('the request has come', () => this.#responses.length > 0)
    const [first] = this.#responses
    assert.ok(first)
    return first
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]()
  }
}

test('an answer that drips ends with the time of the whole request, collected or streamed', async () => {
  for (const way of ['request', 'open'] as const) {
    const clock = new ManualClock()
    await using server = await WritableServer.start()
    await using egress = client({ clock })
    let read = 0
    const work = egress[way]({ url: server.url, timeoutMs: 15_000 }).then(async (answer) => {
      if (answer.body instanceof Readable) for await (const chunk of answer.body) read += (chunk as Buffer).length
    })
    const { result } = watch(work)
    const answer = await server.response()
    answer.flushHeaders()
    for (let second = 1; second < 15; second++) {
      answer.write('x')
      if (way === 'open') await waitUntil('the byte has come', () => read >= second)
      await clock.advance(1000)
      assert.equal(result(), 'pending', `${way} after ${second} s`)
    }
    await clock.advance(1000)
    await waitUntil('it is over', () => result() !== 'pending')
    assert.equal(result(), 'timeout')
    await waitUntil('the connection is closed', () => server.isLeft)
    assert.equal(clock.pending, 0)
  }
})

test('a streamed answer gets time for every byte that comes', async () => {
  const clock = new ManualClock()
  await using server = await WritableServer.start()
  await using egress = client({ clock })
  const opening = egress.open({ url: server.url, timeoutMs: 15_000 })
  const answer = await server.response()
  answer.flushHeaders()
  const { body } = await opening
  let read = 0
  body.on('data', (chunk: Buffer) => (read += chunk.length))
  for (let second = 1; second <= 20; second++) {
    answer.write(Buffer.alloc(256 * kilobyte))
    await waitUntil('the chunk has come', () => read === second * 256 * kilobyte)
    await clock.advance(1000)
    assert.equal(body.destroyed, false)
  }
  await clock.advance(15_000)
  assert.equal(body.destroyed, true)
})

test('an upload has its size at 256 KB/s on top, and from its last byte the plain time', async () => {
  const clock = new ManualClock()
  await using server = await RawServer.start()
  await using egress = client({ clock })
  const megabyte = 1024 * kilobyte
  const send = (body: Readable) =>
    watch(egress.request({ method: 'POST', url: server.url, body, bodyBytes: megabyte, timeoutMs: 15_000 }))

  const stuck = new Readable({ read: () => undefined })
  stuck.push(Buffer.alloc(1000, 'a'))
  const cutOff = send(stuck)
  await waitUntil('the first part has come', () => server.received.length > 1000)
  await clock.advance(18_999)
  assert.equal(cutOff.result(), 'pending')
  await clock.advance(1)
  await waitUntil('it is over', () => cutOff.result() === 'timeout')
  assert.equal(stuck.destroyed, true)

  server.received = ''
  const whole = send(Readable.from([Buffer.alloc(megabyte, 'b')]))
  await waitUntil('all has come', () => server.received.length > megabyte)
  await clock.advance(14_999)
  assert.equal(whole.result(), 'pending')
  await clock.advance(1)
  await waitUntil('it is over', () => whole.result() === 'timeout')
})

test('an upload of unknown length gets time for every byte that leaves', async () => {
  const clock = new ManualClock()
  await using server = await RawServer.start()
  await using egress = client({ clock })
  const body = new Readable({ read: () => undefined })
  const { result } = watch(egress.request({ method: 'POST', url: server.url, body, timeoutMs: 15_000 }))
  body.push(Buffer.alloc(1024 * kilobyte))
  await waitUntil('it has come', () => server.received.length > 1024 * kilobyte)
  await clock.advance(18_998)
  assert.equal(result(), 'pending')
  await clock.advance(2)
  await waitUntil('it is over', () => result() === 'timeout')
})

test('an answer above the limit is cut off, announced or not', async () => {
  const endless: RequestListener = (_, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(64 * kilobyte)));
    }
    response.on('drain', more)
    more()
  }
  const announced: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-length': String(2 ** 31) }).write('x')
  }
  for (const listener of [endless, announced]) {
    await using server = await LoopbackServer.start(listener)
    await using egress = client()
    const request = { url: server.url(), timeoutMs: 15_000, maxResponseBytes: 1024 * kilobyte }
    await assert.rejects(egress.request(request), { reason: 'too_large', status: 200 })
    const streamed = egress.open(request).then(({ body }) => body.resume().toArray())
    await assert.rejects(streamed, { reason: 'too_large' })
    await waitUntil('the connections are closed', () => server.sockets.size === 0)
  }
})

test('a body that is not read slows the server down instead of filling memory', async () => {
  let written = 0
  const listener: RequestListener = (_, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(64 * kilobyte))) written += 64 * kilobyte
    }
    response.on('drain', more)
    more()
  }
  await using server = await LoopbackServer.start(listener)
  await using egress = client()
  const { body } = await egress.open({ url: server.url(), timeoutMs: 15_000, maxResponseBytes: 2 ** 31 })
  let before = -1
  await waitUntil('the server is held back', async () => {
    const isStill = before === written
    before = written
    await new Promise((resolve) => setTimeout(resolve, 50))
    return isStill
  })
  assert.ok(body.readableLength <= 256 * kilobyte, `${body.readableLength} bytes wait`)
  body.destroy()
  await waitUntil('the connection is closed', () => server.sockets.size === 0)
})

test('connections are kept for the next request and bounded per origin', async () => {
  await using server = await LoopbackServer.start()
  await using egress = client({ connectionsPerOrigin: 3 })
  const all = Array.from({ length: 30 }, () => egress.request({ url: server.url(), timeoutMs: 15_000 }))
  for (const answer of await Promise.all(all)) assert.equal(answer.text(), 'ok')
  const { body } = await egress.open({ url: server.url(), timeoutMs: 15_000 })
  assert.equal(Buffer.concat((await body.toArray()) as Buffer[]).toString(), 'ok')
  assert.equal(server.requests, 31)
  assert.ok(server.connections <= 3, `${server.connections} connections`)
})

test('disposal ends requests that run, that wait and that open a connection', async () => {
  const clock = new ManualClock()
  await using server = await RawServer.start()
  const egress = client({ clock, connectionsPerOrigin: 1 })
  const running = watch(egress.request({ url: server.url, timeoutMs: 15_000 }))
  await waitUntil('the request has come', () => server.requests('GET') === 1)
  const waiting = watch(egress.request({ url: server.url, timeoutMs: 15_000 }))
  const opening = watch(egress.request({ url: server.url.replace('http:', 'https:'), timeoutMs: 15_000 }))
  await waitUntil('both connections are there', () => server.connections === 2)
  await egress[Symbol.asyncDispose]()
  await waitUntil('everything is told', () => [running, waiting, opening].every(({ result }) => result() !== 'pending'))
  assert.deepEqual([running.result(), waiting.result(), opening.result()], ['lost', 'unreachable', 'unreachable'])
  await waitUntil('the connections are closed', () => server.sockets.size === 0)
  const after = watch(egress.request({ url: server.url, timeoutMs: 15_000 }))
  await waitUntil('it is refused', () => after.result() === 'unreachable')
  assert.equal(clock.pending, 0)
})
