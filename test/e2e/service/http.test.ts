import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { apiToken, Service } from '../../harness/service.ts'

const put = { downstream_base_url: 'https://desk.example', downstream_api_token: 't' }

describe('HTTP conventions', () => {
  let service: Service
  before(async () => {
    service = await Service.start({
      seed: async (database) => {
        await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('webhook')))
      },
    })
  })
  after(() => service[Symbol.asyncDispose]())

  const guarded = [
    ['GET', '/api/version'],
    ['GET', '/api/tenants'],
    ['GET', '/api/tenants/acme'],
    ['PUT', '/api/tenants/acme'],
    ['PATCH', '/api/tenants/acme'],
    ['DELETE', '/api/tenants/acme'],
    ['GET', '/api/usage'],
    ['GET', '/api/usage/summary'],
    ['GET', '/api/instances/webhook/usage'],
    ['GET', '/api/audit'],
    ['GET', '/api/unknown/route'],
    ['POST', '/api/health'],
    ['GET', '/api/webhook'],
    ['GET', '/api/tenants/webhook'],
    ['DELETE', '/metrics'],
  ] as const
  for (const [method, path] of guarded) {
    test(`${method} ${path} needs the token`, async () => {
      for (const token of [null, '', 'wrong', `${apiToken}x`, apiToken.slice(0, -1)]) {
        assertRefused(await service.request(method, path, { token }), 'SERVICE_UNAUTHORIZED', /Bearer/)
      }
    })
  }

  for (const path of [
    '/api/health',
    '/metrics',
    '/static/brand-asset.png',
    '/static/openapi.json',
    '/static/reference.html',
  ]) {
    test(`GET ${path} is open`, async () => {
      assert.equal((await service.request('GET', path, { token: null })).status, 200)
      assert.equal((await service.request('HEAD', path, { token: null })).status, 200)
    })
  }

  test('the scheme of the Authorization header is read in any case, other schemes are refused', async () => {
    assert.equal((await service.get('/api/version', { authorization: `bearer ${apiToken}` })).status, 200)
    const basic = await service.get('/api/version', { authorization: `Basic ${apiToken}` })
    assertRefused(basic, 'SERVICE_UNAUTHORIZED')
  })

  test('an unknown route is 404 and a wrong method 405, with the error object', async () => {
    assertRefused(await service.get('/api/nothing'), 'SERVICE_ROUTE_NOT_FOUND')
    const wrong = await service.request('DELETE', '/api/tenants')
    assertRefused(wrong, 'SERVICE_METHOD_NOT_ALLOWED', /GET, HEAD/)
    assert.equal(wrong.headers.get('allow'), 'GET, HEAD')
    assertRefused(await service.request('POST', '/static/openapi.json'), 'SERVICE_METHOD_NOT_ALLOWED')
    assertRefused(await service.request('POST', '/static/brand-asset.png'), 'SERVICE_METHOD_NOT_ALLOWED')
  })

  test('a static file outside of the folder is not served', async () => {
    for (const path of [
      '/static/..%2fpackage.json',
      '/static/%2e%2e/package.json',
      '/static/..%5cpackage.json',
      '/static/',
    ]) {
      const answer = await service.get(path)
      assert.ok([403, 404].includes(answer.status), `${path} → ${answer.status}`)
      assert.equal(typeof (answer.body as { error: string }).error, 'string')
    }
  })

  test('trace headers come back, an unusable one is replaced or left out', async () => {
    const traced = await service.get('/api/version', { 'x-migration-id': 'mig-1', 'x-request-id': 'req-1' })
    assert.equal(traced.headers.get('x-migration-id'), 'mig-1')
    assert.equal(traced.headers.get('x-request-id'), 'req-1')
    const odd = await service.get('/api/version', { 'x-migration-id': 'x'.repeat(129), 'x-request-id': 'é' })
    assert.equal(odd.headers.get('x-migration-id'), null)
    assert.match(odd.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
    const [line] = service.logs.withMessage('request answered').filter((each) => each['migration_id'] === 'mig-1')
    assert.equal(line?.['request_id'], 'req-1')
    assert.equal(line['route'], '/api/version')
  })

  describe('a request body', () => {
    const send = (body: string, headers: Record<string, string> = {}) =>
      service.request('PUT', '/api/tenants/body', { body, headers })

    test('that is no JSON is refused', async () => {
      for (const body of ['{', '{"a":1,}', 'null x', '', '{"a":\u0000}']) {
        assertRefused(await send(body), 'SERVICE_BAD_REQUEST')
      }
    })

    test('that is no object is refused', async () => {
      for (const body of ['null', '[]', '"text"', '7']) assertRefused(await send(body), 'SERVICE_BAD_REQUEST', /object/)
    })

    test('of another media type is refused', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
        assertRefused(await send(JSON.stringify(put), { 'content-type': type }), 'SERVICE_UNSUPPORTED_MEDIA_TYPE')
      }
    })

    test('above the limit is refused', async () => {
      const body = JSON.stringify({ ...put, padding: 'x'.repeat(1024 * 1024) })
      assertRefused(await send(body), 'SERVICE_BODY_TOO_LARGE')
    })

    test('with a prototype key is refused', async () => {
      for (const key of ['__proto__', 'constructor']) {
        const hostile = `{"${key}":{"prototype":{"polluted":true}},"downstream_base_url":"https://a","downstream_api_token":"t"}`
        assertRefused(await send(hostile), 'SERVICE_BAD_REQUEST')
      }
    })

    test('nested too deeply is refused, brackets inside texts do not count', async () => {
      const bomb = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
      assertRefused(await send(bomb), 'SERVICE_BAD_REQUEST', /nested/)
      const harmless = await send(JSON.stringify({ ...put, note: '[{'.repeat(500) + '\\"' }))
      assert.equal(harmless.status, 200)
      await service.request('DELETE', '/api/tenants/body')
    })

    test('that is missing is refused where one is needed', async () => {
      assertRefused(await service.request('PUT', '/api/tenants/body'), 'SERVICE_BAD_REQUEST')
      assertRefused(await service.request('PATCH', '/api/tenants/body'), 'SERVICE_BAD_REQUEST')
    })

    test('is ignored where none is taken, with every media type', async () => {
      const odd = await service.request('DELETE', '/api/tenants/body', {
        body: '{',
        headers: { 'content-type': 'text/x' },
      })
      assertRefused(odd, 'SERVICE_TENANT_NOT_FOUND')
    })

    test('none of these created a tenant', async () => {
      assert.deepEqual((await service.get('/api/tenants')).body, [])
    })
  })

  test('bytes that are no HTTP get the error object too', async () => {
    const { port } = new URL(service.url)
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(Number(port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'))
      socket.on('data', (chunk) => (text += chunk.toString()))
      socket.on('close', () => {
        resolve(text)
      })
      socket.on('error', reject)
    })
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.match(answer, /"error_code":"SERVICE_BAD_REQUEST"/)
  })

  test('a malformed percent escape is refused', async () => {
    assertRefused(await service.get('/api/tenants/%ff%'), 'SERVICE_BAD_REQUEST')
  })

  test('answers carry the security headers', async () => {
    const { headers } = await service.get('/api/version')
    const policy = headers.get('content-security-policy')?.split('; ') ?? []
    assert.deepEqual(policy, [
      ...["default-src 'self'", "object-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'self'"],
      ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
    ])
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
  })
})

test('without a token configured every route is open and a warning is logged', async () => {
  await using service = await Service.start({ environment: { SERVICE_API_TOKEN: '' } })
  assert.equal((await service.request('GET', '/api/tenants', { token: null })).status, 200)
  assert.equal(
    service.logs.withMessage('the API is open to everybody who can reach it: set SERVICE_API_TOKEN').length,
    1,
  )
})

test('the rate limit refuses the request above it, guesses of the token included, but never health and metrics', async () => {
  await using service = await Service.start({ environment: { SERVICE_API_RATE_LIMIT: '3' } })
  for (let i = 0; i < 3; i++)
    assertRefused(await service.request('GET', '/api/version', { token: 'x' }), 'SERVICE_UNAUTHORIZED')
  assertRefused(await service.get('/api/version'), 'SERVICE_RATE_LIMITED')
  for (let i = 0; i < 5; i++) {
    assert.equal((await service.get('/api/health')).status, 200)
    assert.equal((await service.get('/metrics')).status, 200)
  }
})

test('the body limit follows its setting', async () => {
  await using service = await Service.start({ environment: { SERVICE_BODY_LIMIT: '2kb' } })
  const body = { ...put, padding: 'x'.repeat(2048) }
  assertRefused(await service.request('PUT', '/api/tenants/a', { body }), 'SERVICE_BODY_TOO_LARGE')
  assert.equal((await service.request('PUT', '/api/tenants/a', { body: put })).status, 200)
})
