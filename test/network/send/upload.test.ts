// Uploads: whole or not at all, around hosts that fail in every way, and never more than a little in memory.
// Runs alone: it measures the memory of its process.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { truncate } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { Agent } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { CertificateAuthority } from '../../../sim/network/media/certificate-authority.ts'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import { SendError } from '../../../src/core/network.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { MediaHosts } from '../../../src/network/files/media-hosts.ts'
import { sealFile } from '../../../src/network/files/seal-file.ts'
import { MediaUpload } from '../../../src/network/files/upload.ts'
import { createProxyAgent } from '../../../src/network/connection/proxy-agent.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { trustMediaHost } from '../../harness/media-authority.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Files } from '../harness/files.ts'
import { Proxy } from '../harness/proxies.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

const authority = new CertificateAuthority(new SeededRandom('uploads'))
trustMediaHost({ authority })
const signal = new AbortController().signal

async function host(serve: Serve) {
  const server = createServer(authority.loopbackServer(), (request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const name = `localhost:${(server.address() as AddressInfo).port}`
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { name, [Symbol.asyncDispose]: close }
}

/** Takes everything, keeps nothing, and checks the hash in the address as the real hosts do. */
const take: Serve = async (request, response) => {
  const hash = createHash('sha256')
  for await (const chunk of request) hash.update(chunk as Buffer)
  const isIt = request.url?.startsWith(`/mms/document/${hash.digest('base64url')}?`) ?? false
  response.writeHead(isIt ? 200 : 400).end(JSON.stringify({ url: 'https://here/there', direct_path: '/there' }))
}

const answer =
  (status: number, body = '{}'): Serve =>
  (request, response) => {
    request.resume()
    response.writeHead(status).end(body)
  }

type Options = { names: string[]; clock?: Clock; agent?: Agent }

function uploader({ names, clock = systemClock, agent }: Options) {
  let asked = 0
  const ask = () => {
    asked += 1
    const content = names.map((hostname) => ({ tag: 'host', attrs: { hostname } }))
    const connection = { tag: 'media_conn', attrs: { auth: `word ${asked}`, ttl: '300' }, content }
    return Promise.resolve({ tag: 'iq', attrs: {}, content: [connection] })
  }
  const upload = new MediaUpload({ hosts: new MediaHosts(ask, clock), agent, clock, gone: signal })
  return { upload, asked: () => asked }
}

async function sealedOf(files: Files, size = 100_000) {
  return sealFile(await files.write('f', Buffer.alloc(size, 7)), 'document', signal)
}

test('a host that fails is passed over for the next', async () => {
  await using files = await Files.open()
  const sealed = await sealedOf(files)
  const failures: Serve[] = [
    answer(503),
    answer(200, 'no JSON'),
    answer(200, '{}'),
    (request) => void request.socket.destroy(),
    (request) => void request.once('data', () => request.socket.destroy()),
    (request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{')
      request.socket.destroySoon()
    },
  ]
  for (const fail of failures) {
    await using bad = await host(fail)
    await using good = await host(take)
    const { upload } = uploader({ names: [bad.name, good.name] })
    assert.deepEqual(await upload.upload(sealed, 'document'), { url: 'https://here/there', directPath: '/there' })
    const alone = uploader({ names: [bad.name] })
    await assert.rejects(alone.upload.upload(sealed, 'document'))
  }
})

test('an expired upload token is asked for again, once', async () => {
  await using files = await Files.open()
  const sealed = await sealedOf(files)
  await using strict = await host((request, response) =>
    request.url?.includes('auth=word+2') ? take(request, response) : answer(401)(request, response),
  )
  const { upload, asked } = uploader({ names: [strict.name] })
  await upload.upload(sealed, 'document')
  assert.equal(asked(), 2)
  await using closed = await host(answer(401))
  const never = uploader({ names: [closed.name] })
  await assert.rejects(never.upload.upload(sealed, 'document'), /401/)
  assert.equal(never.asked(), 2)
})

test('a file the hosts find too large is refused for good', async () => {
  await using files = await Files.open()
  await using small = await host(answer(413))
  const { upload } = uploader({ names: [small.name] })
  const isRefused = (error: unknown) => error instanceof SendError && error.outcome === 'refused' && error.code === 413
  await assert.rejects(upload.upload(await sealedOf(files, 5_000_000), 'document'), isRefused)
})

test('a host that stops half-way is given up after 30 s', async () => {
  await using files = await Files.open()
  const started = Promise.withResolvers<undefined>()
  await using slow = await host((request) => {
    request.once('data', () => {
      request.pause()
      started.resolve(undefined)
    })
  })
  const clock = new ManualClock()
  const { upload } = uploader({ names: [slow.name], clock })
  const failed = assert.rejects(upload.upload(await sealedOf(files, 20_000_000), 'document'), /did not go on for 30 s/)
  await started.promise
  // What the kernel still takes is progress too.
  await waitUntil('the upload is given up', async () => {
    await clock.advance(30_000)
    return clock.pending === 0
  })
  await failed
})

for (const [name, start] of [
  ['an http', () => Proxy.http()],
  ['a socks5', () => Proxy.socks()],
] as const) {
  test(`a file goes through ${name} proxy, and nowhere when the proxy is gone`, async () => {
    await using files = await Files.open()
    await using good = await host(take)
    const proxy = await start()
    const agent = createProxyAgent(proxy.url)
    const { upload } = uploader({ names: [good.name], agent })
    const sealed = await sealedOf(files)
    await upload.upload(sealed, 'document')
    assert.deepEqual(proxy.targets, [good.name])
    await proxy[Symbol.asyncDispose]()
    await assert.rejects(upload.upload(sealed, 'document'))
  })
}

test('a file of 64 MB needs far less memory than it is large', async () => {
  await using files = await Files.open()
  const size = 64 * 1024 * 1024
  const path = await files.write('large', Buffer.from('x'))
  await truncate(path, size)
  const { key, cert } = authority.loopbackServer()
  const sink = fork(new URL('../harness/media-sink.ts', import.meta.url), { env: { KEY: key, CERT: cert } })
  const [port] = (await once(sink, 'message')) as [number]
  const { upload } = uploader({ names: [`localhost:${port}`] })
  await upload.upload(await sealedOf(files), 'document')
  const before = process.memoryUsage.rss()
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss() - before)
  }, 5)
  const sealed = await sealFile(path, 'document', signal)
  await upload.upload(sealed, 'document')
  clearInterval(watch)
  sink.disconnect()
  assert.equal(sealed.size, size)
  assert.ok(most < size / 2, `grew by ${Math.round(most / 1024 / 1024)} MB`)
})
