// A client gets the same answer from the owner and from a node that hands the request to the owner.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiToken } from '../../src/http/session/api-token.ts'
import { DashboardSessions } from '../../src/http/session/dashboard-sessions.ts'
import { sessionCookieName } from '../../src/http/session/session-cookie.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { requestFrom } from '../harness/http-request.ts'
import type { RequestOptions } from '../harness/http-request.ts'
import { pieceBytes, pieceCount } from './harness/public-routes.ts'
import { apiToken, startPair } from './harness/two-nodes.ts'

const token = apiToken

/** Different for every request or connection. */
const ownHeaders = ['date', 'x-request-id', 'connection', 'keep-alive', 'transfer-encoding']

function comparable({ status, headers, text }: Awaited<ReturnType<typeof requestFrom>>) {
  const kept = [...headers].filter(([name]) => !ownHeaders.includes(name))
  return { status, text, headers: kept }
}

function form(bytes: number): RequestOptions {
  const head = '--b\r\ncontent-disposition: form-data; name="picture"; filename="p"\r\n\r\n'
  const body = Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 7), Buffer.from('\r\n--b--\r\n')])
  return { token, headers: { 'content-type': 'multipart/form-data; boundary=b' }, body }
}

const cases: [what: string, method: string, path: string, options?: RequestOptions][] = [
  ['JSON', 'GET', '/api/instances/shop'],
  ['an escaped path with a query', 'GET', '/api/instances/sh%6Fp?a=%C3%BC&b=%2F..%2F'],
  ['HEAD', 'HEAD', '/api/instances/shop'],
  ['a body', 'PATCH', '/api/instances/shop', { token, body: { text: 'Grüße 🎉' } }],
  ['no content', 'DELETE', '/api/instances/shop'],
  ['bytes', 'GET', '/api/instances/shop/qr'],
  ['an error with cookies and Retry-After', 'POST', '/api/instances/shop/restart'],
  ['an upload of 6 MB', 'POST', '/api/instances/shop/groups/1@g.us/picture', form(6 * 1024 ** 2)],
  ['a download that is streamed', 'GET', '/api/instances/shop/groups'],
  [
    'a callback',
    'POST',
    '/api/instances/shop/webhook',
    { body: 'not { json', headers: { 'x-chatwoot-signature': 's' } },
  ],
  ['a wrong field', 'PATCH', '/api/instances/shop', { token, body: { text: 1 } }],
  ['JSON that is none', 'PATCH', '/api/instances/shop', { token, body: '{"text":' }],
  [
    'a wrong media type',
    'PATCH',
    '/api/instances/shop',
    { token, body: 'a', headers: { 'content-type': 'text/plain' } },
  ],
  ['a missing body', 'PATCH', '/api/instances/shop', { token }],
  ['a body that is too large', 'PATCH', '/api/instances/shop', { token, body: { text: 'x'.repeat(1024 ** 2) } }],
  ['a name that is not valid', 'GET', '/api/instances/-shop'],
  ['a path that does not exist', 'GET', '/api/instances/shop/nothing'],
  ['no token', 'GET', '/api/instances/shop', { token: null }],
  ['a wrong token', 'GET', '/api/instances/shop', { token: 'wrong' }],
]

describe('a request through a node that does not hold the instance is answered as by its owner', () => {
  for (const [what, method, path, options = { token }] of cases) {
    test(what, async () => {
      await using pair = await startPair()
      const direct = await requestFrom(pair.owner.url, method, path, options)
      const through = await requestFrom(pair.stranger.url, method, path, options)
      assert.deepEqual(comparable(through), comparable(direct))
      assert.deepEqual(pair.stranger.seen, [], 'the stranger ran no route itself')
    })
  }

  test('a body of unknown length that becomes too large', async () => {
    await using pair = await startPair()
    const ask = async (url: string) => {
      const response = await fetch(`${url}/api/instances/shop`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: ReadableStream.from([Buffer.alloc(1024 ** 2, 'x'), Buffer.from('x')]),
        duplex: 'half',
      })
      return comparable({ status: response.status, headers: response.headers, text: await response.text(), body: null })
    }
    const through = await ask(pair.stranger.url)
    assert.deepEqual(through, await ask(pair.owner.url))
    assert.equal(through.status, 413)
  })
})

test('a large body is refused by the node that receives it, and the owner is not asked', async () => {
  await using pair = await startPair()
  const body = { text: 'x'.repeat(1024 ** 2) }
  const { status } = await requestFrom(pair.stranger.url, 'PATCH', '/api/instances/shop', { token, body })
  assert.equal(status, 413)
  assert.deepEqual(pair.owner.logs.withMessage('request answered'), [])
})

test('a download arrives whole and in order', async () => {
  await using pair = await startPair()
  const response = await fetch(`${pair.stranger.url}/api/instances/shop/groups`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.equal(bytes.length, pieceBytes * pieceCount)
  assert.ok(bytes.every((byte, at) => byte === Math.floor(at / pieceBytes)))
})

test('the owner sees the headers and the address of the client, and both log the same id', async () => {
  await using pair = await startPair()
  const headers = { 'x-request-id': 'r-1', 'x-migration-id': 'm-1', 'x-forwarded-for': '203.0.113.7' }
  await requestFrom(pair.stranger.url, 'GET', '/api/instances/shop', { token, headers })
  const [seen] = pair.owner.seen
  assert.equal(seen?.ip, '127.0.0.1')
  assert.equal(seen?.headers['x-forwarded-for'], '203.0.113.7')
  assert.equal(seen?.headers['host'], new URL(pair.stranger.url).host)
  for (const { logs } of [pair.owner, pair.stranger]) {
    const [line] = logs.withMessage('request answered')
    assert.equal(line?.['request_id'], 'r-1')
  }
})

test('behind a trusted proxy the owner sees the address that the proxy names', async () => {
  await using pair = await startPair({ settings: { trustProxy: true } })
  const headers = { 'x-forwarded-for': '203.0.113.7' }
  await requestFrom(pair.stranger.url, 'GET', '/api/instances/shop', { token, headers })
  assert.equal(pair.owner.seen[0]?.ip, '203.0.113.7')
})

test('a request counts against the rate limit of the node that receives it, once', async () => {
  await using pair = await startPair({ settings: { rateLimit: 2 } })
  const ask = async () => (await requestFrom(pair.stranger.url, 'GET', '/api/instances/shop', { token })).status
  assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 429])
  const direct = await requestFrom(pair.owner.url, 'GET', '/api/instances/shop', { token })
  assert.equal(direct.headers.get('x-ratelimit-remaining'), '1')
})

test('no node is asked for a name that is not valid', async () => {
  await using pair = await startPair()
  for (const name of ['-shop', 'a'.repeat(300), 'a%0Ab']) {
    const answer = await requestFrom(pair.stranger.url, 'POST', `/api/instances/${name}/webhook`, { body: '{}' })
    assert.notEqual(answer.status, 503, name)
  }
  assert.equal(pair.stranger.owners.asked, 0)
})

test('a session of the dashboard counts at every node, and is renewed once', async () => {
  await using pair = await startPair()
  const token = new ApiToken(apiToken)
  const sessions = new DashboardSessions({ key: token.sessionKey, clock: systemClock })
  const due = { ...sessions.start(), issuedAt: Date.now() - 3_600_000 }
  const headers = { cookie: `${sessionCookieName}=${sessions.format(due)}` }
  const answer = await requestFrom(pair.stranger.url, 'GET', '/api/instances/shop', { headers })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.getSetCookie().length, 1)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
})

test('what the database answers is answered by any node', async () => {
  await using pair = await startPair()
  const { body } = await requestFrom(pair.stranger.url, 'GET', '/api/instances/shop/state', { token })
  assert.deepEqual(body, { node: 'stranger-1' })
  assert.equal(pair.stranger.owners.asked, 0)
})
