import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import { LoopbackServer } from '../../../test/harness/loopback-server.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import { Egress } from './egress.ts'
import { EgressError } from './errors.ts'
import { follow } from './follow.ts'
import { privateAllowed } from './policy.ts'

function redirecting(to: (path: string) => string | undefined, seen: string[]): RequestListener {
  return (request, response) => {
    seen.push(`${request.url ?? ''} ${String(request.headers['api-access-token'])}`)
    const location = to(request.url ?? '')
    if (location === undefined) response.end('the file')
    else response.writeHead(302, { location }).end('moved')
  }
}

async function read(answer: { body: AsyncIterable<unknown> }): Promise<string> {
  let text = ''
  for await (const chunk of answer.body) text += String(chunk)
  return text
}

test('the caller decides every hop: its address is rewritten, and only chosen hops receive the token', async () => {
  const atStorage: string[] = []
  const atDesk: string[] = []
  await using storage = await LoopbackServer.start(redirecting(() => undefined, atStorage))
  await using desk = await LoopbackServer.start(redirecting(() => storage.url('127.0.0.1', '/blob?sign=1'), atDesk))
  await using egress = new Egress({ policy: privateAllowed })
  const asked: string[] = []
  const answer = await follow(egress, {
    url: 'https://public-name.example/rails/active_storage/blobs/redirect/x/photo.jpeg',
    timeoutMs: 15_000,
    route(url, hop) {
      asked.push(`${hop} ${url.pathname}`)
      if (!url.pathname.startsWith('/rails/active_storage/')) return { url }
      return { url: new URL(url.pathname + url.search, desk.url()), headers: { 'api-access-token': 'secret' } }
    },
  })
  assert.equal(await read(answer), 'the file')
  assert.equal(answer.url.href, storage.url('127.0.0.1', '/blob?sign=1'))
  assert.deepEqual(asked, ['0 /rails/active_storage/blobs/redirect/x/photo.jpeg', '1 /blob'])
  assert.deepEqual(atDesk, ['/rails/active_storage/blobs/redirect/x/photo.jpeg secret'])
  assert.deepEqual(atStorage, ['/blob?sign=1 undefined'])
})

test('five redirects are followed, relative ones too; the sixth is not', async () => {
  const seen: string[] = []
  await using server = await LoopbackServer.start(
    redirecting((path) => (path === '/5' ? undefined : `/${Number(path.slice(1)) + 1}`), seen),
  )
  await using egress = new Egress({ policy: privateAllowed, connectionsPerOrigin: 1 })
  const start = (path: string) =>
    follow(egress, { url: server.url('127.0.0.1', path), timeoutMs: 15_000, route: (url) => ({ url }) })
  assert.equal(await read(await start('/0')), 'the file')
  assert.equal(server.connections, 1)
  await assert.rejects(start('/-1'), { reason: 'too_many_redirects' })
})

test('a hop that the caller refuses, or with an invalid address, is not made', async () => {
  const seen: string[] = []
  await using server = await LoopbackServer.start(
    redirecting((path) => (path === '/bad' ? 'http://' : 'http://elsewhere.example/'), seen),
  )
  await using egress = new Egress({ policy: privateAllowed })
  for (const path of ['/', '/bad']) {
    const route = (url: URL, hop: number) => (hop === 0 ? { url } : undefined)
    const refused = follow(egress, { url: server.url('127.0.0.1', path), timeoutMs: 15_000, route })
    await assert.rejects(refused, { reason: 'refused' })
  }
  const noUrl = follow(egress, { url: 'no address', timeoutMs: 15_000, route: (url) => ({ url }) })
  await assert.rejects(noUrl, { reason: 'refused' })
})

test('the time is for all hops together', async () => {
  const clock = new ManualClock()
  let held: (() => void) | undefined
  const listener: RequestListener = (request, response) => {
    if (request.url === '/first') held = () => response.writeHead(302, { location: '/second' }).end()
  }
  await using server = await LoopbackServer.start(listener)
  await using egress = new Egress({ policy: privateAllowed, clock })
  const url = server.url('127.0.0.1', '/first')
  const following = follow(egress, { url, timeoutMs: 15_000, route: (next) => ({ url: next }) })
  const failed = following.catch((error: unknown) => error)
  await waitUntil('the first hop has come', () => held !== undefined)
  await clock.advance(10_000)
  held?.()
  await waitUntil('the second hop has come', () => server.requests === 2)
  await clock.advance(5_000)
  const error = await failed
  assert.ok(error instanceof EgressError)
  assert.equal(error.reason, 'timeout')
})
