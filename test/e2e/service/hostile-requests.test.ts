import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { requestRaw, sendRaw } from '../../harness/raw-request.ts'
import { apiToken, Service } from '../../harness/service.ts'
import { perNode } from '../../harness/stranger.ts'

const authorization = `Bearer ${apiToken}`

describe('a hostile request', () => {
  let service: Service
  before(async () => (service = await Service.start()))
  after(() => service[Symbol.asyncDispose]())

  for (const method of ['TRACE', 'PROPFIND', 'SEARCH', 'MKCOL', 'QUERY', 'LOCK']) {
    test(`${method} on a known path is 405, on an unknown one 404, without a token 401`, async () => {
      const ask = (path: string, headers = {}) => requestRaw(service.url, { method, path, headers })
      for (const path of ['/api/tenants', '/api/tenants/a', '/metrics', '/static/reference.css']) {
        assertRefused(await ask(path, { authorization }), 'SERVICE_METHOD_NOT_ALLOWED')
      }
      assertRefused(await ask('/api/nothing', { authorization }), 'SERVICE_ROUTE_NOT_FOUND')
      assertRefused(await ask('/api/tenants'), 'SERVICE_UNAUTHORIZED')
    })
  }

  test('a path that cannot be read or is too long is refused with the trace headers and without an echo', async () => {
    for (const path of ['/api/tenants/canary%ff%', '/%E0%A4%A', `/api/tenants/canary${'x'.repeat(600)}`]) {
      const headers = { authorization, 'x-request-id': 'req-1', 'x-migration-id': 'mig-1' }
      const answer = await requestRaw(service.url, { path, headers })
      assertRefused(answer, 'SERVICE_BAD_REQUEST', /path/)
      assert.ok(!answer.text.includes('canary'), answer.text)
      assert.equal(answer.headers.get('x-request-id'), 'req-1')
      assert.equal(answer.headers.get('x-migration-id'), 'mig-1')
    }
  })

  test('a static path that is no file is answered like every unknown route', async () => {
    for (const path of ['/static/%00', '/static/..%2fpackage.json', '/static/nothing', '/static/']) {
      const answer = await requestRaw(service.url, { path, headers: { authorization } })
      assertRefused(answer, 'SERVICE_ROUTE_NOT_FOUND', /no such route/)
    }
  })

  test('a body that is no UTF-8 is refused', async () => {
    const body = Buffer.from(`{"downstream_base_url":"https://a","downstream_api_token":"t\xff"}`, 'latin1')
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await requestRaw(service.url, { method: 'PUT', path: '/api/tenants/a', headers, body })
    assertRefused(answer, 'SERVICE_BAD_REQUEST', /UTF-8/)
    assert.deepEqual((await service.get('/api/tenants')).body, [])
  })

  test('a malformed Content-Type is ignored where no body is taken and refused where one is', async () => {
    for (const type of ['nonsense', '/', 'a/b/c', ';;', 'application/']) {
      const headers = { authorization, 'content-type': type }
      const removal = { method: 'DELETE', path: '/api/tenants/nobody', headers, body: '{' }
      assertRefused(await requestRaw(service.url, removal), 'SERVICE_TENANT_NOT_FOUND')
      const put = { method: 'PUT', path: '/api/tenants/a', headers, body: '{}' }
      assertRefused(await requestRaw(service.url, put), 'SERVICE_UNSUPPORTED_MEDIA_TYPE')
    }
  })

  test('headers that are too large are 431', async () => {
    const answer = await sendRaw(
      service.url,
      `GET /api/health HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 431 /)
    assert.match(answer, /"error_code":"SERVICE_HEADERS_TOO_LARGE"/)
  })
})

test('guessing the token on paths that do not exist counts against the rate limit', { skip: perNode }, async () => {
  await using service = await Service.start({ environment: { SERVICE_API_RATE_LIMIT: '3' } })
  const guess = (path: string) => service.request('GET', path, { token: 'x' })
  for (const path of ['/api/nothing', '/nowhere', '/api/version'])
    assertRefused(await guess(path), 'SERVICE_UNAUTHORIZED')
  assertRefused(await guess('/api/nothing'), 'SERVICE_RATE_LIMITED')
  assertRefused(await service.get('/api/version'), 'SERVICE_RATE_LIMITED')
})

test('behind a proxy the client is the address the proxy saw, not what the client claims', async () => {
  const environment = { SERVICE_API_RATE_LIMIT: '1', SERVICE_TRUST_PROXY: 'true' }
  await using service = await Service.start({ environment })
  const from = (forwarded: string) => service.get('/api/version', { 'x-forwarded-for': forwarded })
  assert.equal((await from('1.1.1.1, 9.9.9.9')).status, 200)
  assertRefused(await from('2.2.2.2, 9.9.9.9'), 'SERVICE_RATE_LIMITED')
  assert.equal((await from('8.8.8.8')).status, 200)
})

test('without a proxy X-Forwarded-For changes nothing', async () => {
  await using service = await Service.start({ environment: { SERVICE_API_RATE_LIMIT: '1' } })
  const from = (forwarded: string) => service.get('/api/version', { 'x-forwarded-for': forwarded })
  assert.equal((await from('8.8.8.8')).status, 200)
  assertRefused(await from('9.9.9.9'), 'SERVICE_RATE_LIMITED')
})
