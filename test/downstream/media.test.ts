// Files of agents are fetched from every kind of storage, and only from hosts that the settings allow.

import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { DownstreamError } from '../../src/core/downstream.ts'
import { LoopbackServer } from '../harness/loopback-server.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { HelpdeskBed } from './harness/helpdesk-bed.ts'

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(300_000, 1)])
const never = new AbortController().signal

/** An agent's message with a file; resolves to the address in Chatwoot's own words. */
async function attach(bed: HelpdeskBed, name = 'a photo.png', type = 'image/png', bytes = png): Promise<string> {
  const chat = await bed.openChat()
  const form = new FormData()
  form.append('attachments[]', new File([new Uint8Array(bytes)], name, { type }))
  const sent = await new DeskClient(bed.helpdesk).send('POST', `/conversations/${chat}/messages`, form)
  return (sent.body['attachments'] as { data_url: string }[])[0]?.data_url ?? ''
}

async function failureOf(work: Promise<unknown>): Promise<DownstreamError> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof DownstreamError, String(error))
    return error
  }
  throw new Error('it did not fail')
}

for (const storage of ['s3', 'disk'] as const) {
  test(`a file is fetched although its address names a host we cannot reach, from ${storage}`, async () => {
    const helpdesk = { storage, frontendUrl: 'https://desk.invalid' }
    await using bed = await HelpdeskBed.start({ helpdesk })
    const url = await attach(bed, 'a photo.png', 'application/octet-stream')
    assert.match(url, /^https:\/\/desk\.invalid\/rails\/active_storage\//)
    const file = await bed.downstream.download(bed.destination, url, never)
    assert.deepEqual([file.mimeType, file.fileName, file.size], ['image/png', 'a photo.png', png.length])
    assert.deepEqual(await buffer(file.stream), png)
    bed.helpdesk.assertNothingRefused()
  })
}

test('storage on a private address is refused, naming the setting, unless that allows it', async () => {
  await using bed = await HelpdeskBed.start({ downstream: { egressAllow: [] } })
  const url = await attach(bed)
  const error = await failureOf(bed.downstream.download(bed.destination, url, never))
  assert.equal(error.failure, 'permanent')
  assert.match(error.message, /SERVICE_EGRESS_ALLOW/)
})

test('an address from outside never leads to our own network or to metadata, not even with a permission', async () => {
  await using bed = await HelpdeskBed.start({ downstream: { egressAllow: ['169.254.169.254'] } })
  await using own = await LoopbackServer.start((_request, response) => response.end('internal'))
  await using redirecting = await LoopbackServer.start((_request, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  )
  const destination = bed.destinationOf({ baseUrl: redirecting.url() })
  const internal = await failureOf(bed.downstream.download(destination, own.url(), never))
  assert.match(internal.message, /SERVICE_EGRESS_ALLOW/)
  const metadata = await failureOf(bed.downstream.download(destination, redirecting.url('127.0.0.1', '/x'), never))
  assert.match(metadata.message, /never contacted/)
})

test('a file that is not there in the first moment is waited for', async () => {
  await using bed = await HelpdeskBed.start({ helpdesk: { quirks: { ...calm, fileDelayMs: [600, 600] } } })
  const url = await attach(bed)
  const file = await bed.downstream.download(bed.destination, url, never)
  assert.equal((await buffer(file.stream)).length, png.length)
})

test('slow downloads do not keep calls waiting for a connection', async () => {
  await using bed = await HelpdeskBed.start()
  const asked: string[] = []
  await using desk = await LoopbackServer.start(({ url = '' }, response) => {
    asked.push(url)
    if (url.startsWith('/api/')) response.writeHead(503).end()
  })
  const destination = bed.destinationOf({ baseUrl: desk.url() })
  const stop = new AbortController()
  const files = Array.from({ length: 24 }, (_, n) =>
    bed.downstream.download(destination, desk.url('127.0.0.1', `/slow/${n}`), stop.signal).catch(() => undefined),
  )
  await waitUntil('many files are asked for', () => asked.length >= 16)
  const call = failureOf(bed.downstream.helpdesk(destination).setStatus(1, 2, 'failed', 'why'))
  await waitUntil('the call arrives', () => asked.some((url) => url.startsWith('/api/')))
  assert.equal((await call).status, 503)
  stop.abort()
  await Promise.all(files)
})

test('a file that never comes is given up after 20 seconds', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ downstream: { clock } })
  let asked = 0
  await using storage = await LoopbackServer.start((_request, response) => {
    asked++
    response.writeHead(404).end()
  })
  const destination = bed.destinationOf({ baseUrl: storage.url() })
  const download = failureOf(bed.downstream.download(destination, storage.url('127.0.0.1', '/x'), never))
  let isOver = false
  void download.then(() => (isOver = true))
  await waitUntil('the download gives up', async () => {
    await clock.advance(250)
    return isOver
  })
  assert.equal((await download).failure, 'gone')
  const passed = clock.monotonic()
  assert.ok(asked >= 8 && asked <= 15, `asked ${asked} times`)
  assert.ok(passed >= 17_000, `gave up after ${passed} ms`)
})

test('redirects end after the fifth; a loop is no trap', async () => {
  await using bed = await HelpdeskBed.start()
  let asked = 0
  await using loop = await LoopbackServer.start((_request, response) => {
    asked++
    response.writeHead(302, { location: '/again' }).end()
  })
  const error = await failureOf(bed.downstream.download(bed.destination, loop.url(), never))
  assert.match(error.message, /more than 5 redirects/)
  assert.equal(asked, 6)
})

test('a file over the limit is refused at its announcement, or cut off while it comes', async () => {
  await using bed = await HelpdeskBed.start({ downstream: { mediaMaxBytes: 100_000 } })
  const announced = await failureOf(bed.downstream.download(bed.destination, await attach(bed), never))
  assert.match(announced.message, /SERVICE_MEDIA_MAX_BYTES/)
  await using silent = await LoopbackServer.start((_request, response) => {
    response.write(png)
    response.end()
  })
  const file = await bed.downstream.download(bed.destination, silent.url(), never)
  const cut = await failureOf(buffer(file.stream))
  assert.deepEqual([cut.failure, /SERVICE_MEDIA_MAX_BYTES/.test(cut.message)], ['permanent', true])
})

test('the token is sent to no other host', async () => {
  await using bed = await HelpdeskBed.start()
  const seen: string[] = []
  await using storage = await LoopbackServer.start((request, response) => {
    seen.push(JSON.stringify(request.headers))
    response.end('x')
  })
  await buffer((await bed.downstream.download(bed.destination, storage.url(), never)).stream)
  assert.equal(seen.length, 1)
  assert.ok(!seen[0]?.includes(bed.destination.apiToken))
})

test('what fails for the moment may be tried again, what is refused may not', async () => {
  await using bed = await HelpdeskBed.start()
  const failures = []
  for (const status of [403, 410, 429, 500]) {
    await using storage = await LoopbackServer.start((_request, response) => response.writeHead(status).end())
    failures.push((await failureOf(bed.downstream.download(bed.destination, storage.url(), never))).failure)
  }
  assert.deepEqual(failures, ['permanent', 'permanent', 'transient', 'transient'])
  for (const url of ['file:///etc/passwd', 'nonsense', 'ftp://x/y']) {
    assert.equal((await failureOf(bed.downstream.download(bed.destination, url, never))).failure, 'permanent')
  }
})

test('a download that is not wanted any more ends its connection, before and while the file comes', async () => {
  await using bed = await HelpdeskBed.start()
  let open = 0
  await using slow = await LoopbackServer.start((request, response) => {
    open++
    request.socket.once('close', () => open--)
    if (request.url === '/silent') return
    response.write(png)
  })
  const stop = new AbortController()
  const waiting = failureOf(bed.downstream.download(bed.destination, slow.url('127.0.0.1', '/silent'), stop.signal))
  const { stream } = await bed.downstream.download(bed.destination, slow.url(), never)
  const coming = await bed.downstream.download(bed.destination, slow.url(), stop.signal)
  const broken = failureOf(buffer(coming.stream))
  stop.abort()
  stream.destroy()
  assert.equal((await waiting).failure, 'transient')
  assert.equal((await broken).failure, 'transient')
  await waitUntil('all connections are closed', () => open === 0, { instead: () => open })
})
