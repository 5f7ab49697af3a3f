// For which requests the cookie of a session counts: those of our own pages, and none that another page makes.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { DashboardVisitor } from '../../harness/dashboard-visitor.ts'
import { requestRaw } from '../../harness/raw-request.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { apiToken, Service } from '../../harness/service.ts'

const tenant = { downstream_base_url: 'https://desk.example', downstream_api_token: 't' }

describe('the cookie', () => {
  let service: Service
  let visitor: DashboardVisitor
  before(async () => {
    service = await Service.start({
      environment: { WEBHOOK_HMAC_SECRET: 'a secret' },
      seed: async (database) => {
        await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('shop')))
      },
    })
    visitor = await DashboardVisitor.signIn(service.url)
  })
  after(() => service[Symbol.asyncDispose]())

  const put = (headers: Record<string, string | null> = {}) =>
    visitor.request('PUT', '/api/tenants/acme', { body: tenant, headers })
  const isStored = async () => (await service.get('/api/tenants/acme')).status === 200
  const refused = async (headers: Record<string, string | null>, why: RegExp) => {
    assertRefused(await put(headers), 'SERVICE_UNAUTHORIZED', why)
    assert.equal(await isStored(), false)
  }

  test('counts for a change only with an own Origin, the header of the dashboard and no other site', async () => {
    await refused({ origin: null }, /Origin is missing/)
    await refused({ origin: 'https://evil.example' }, /Origin is not/)
    await refused({ origin: 'null' }, /Origin is not/)
    await refused({ origin: service.url.replace(/\d+$/, '1') }, /Origin is not/)
    await refused({ 'x-causeway-dashboard': null }, /x-causeway-dashboard/)
    for (const site of ['cross-site', 'same-site', 'none']) await refused({ 'sec-fetch-site': site }, /another site/)
    assert.equal((await put({ 'sec-fetch-site': null })).status, 200)
    assert.equal((await visitor.request('DELETE', '/api/tenants/acme')).status, 200)
  })

  test('counts for a request that reads unless another site makes it', async () => {
    const bare = { origin: null, 'x-causeway-dashboard': null, 'sec-fetch-site': null }
    assert.equal((await visitor.get('/api/tenants', bare)).status, 200)
    assert.equal((await visitor.request('HEAD', '/api/tenants', { headers: bare })).status, 200)
    assert.equal((await visitor.get('/api/tenants', { ...bare, 'sec-fetch-site': 'none' })).status, 200)
    for (const site of ['cross-site', 'same-site']) {
      const answer = await visitor.get('/api/tenants', { ...bare, 'sec-fetch-site': site })
      assertRefused(answer, 'SERVICE_UNAUTHORIZED', /another site/)
    }
    const answer = await visitor.get('/api/tenants', { ...bare, origin: 'https://evil.example' })
    assertRefused(answer, 'SERVICE_UNAUTHORIZED', /Origin/)
  })

  test('does not count when it is changed, doubled or empty', async () => {
    const { cookie } = visitor
    for (const wrong of ['causeway_session=', 'causeway_session=x', `${cookie}x`, cookie.slice(0, -1)]) {
      assertRefused(await visitor.get('/api/version', { cookie: wrong }), 'SERVICE_UNAUTHORIZED', /sign in again/)
    }
    for (const twice of [`${cookie}; ${cookie}`, `causeway_session=x; ${cookie}`]) {
      assertRefused(
        await visitor.get('/api/version', { cookie: twice }),
        'SERVICE_UNAUTHORIZED',
        /more than one cookie/,
      )
    }
    assert.equal((await visitor.get('/api/version', { cookie: `a=b; ${cookie}; c=d` })).status, 200)
  })

  test('does not count in a huge header', async () => {
    const { cookie } = visitor
    const full = await requestRaw(service.url, {
      ...{ path: '/api/version', headers: { cookie: `${'causeway_session=;'.repeat(700)}${cookie}` } },
    })
    assertRefused(full, 'SERVICE_UNAUTHORIZED', /more than one cookie/)
    const huge = await requestRaw(service.url, {
      ...{ path: '/api/version', headers: { cookie: `${'x'.repeat(20_000)}; ${cookie}` } },
    })
    assertRefused(huge, 'SERVICE_HEADERS_TOO_LARGE')
  })

  test('gives way to a Bearer token, right or wrong', async () => {
    const authorization = `Bearer ${apiToken}`
    const foreign = { authorization, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const right = await visitor.get('/api/session', foreign)
    assert.deepEqual(right.body, { actor: 'api', expires_at: null })
    assert.equal(right.headers.get('cache-control'), null)
    assertRefused(
      await visitor.get('/api/session', { authorization: 'Bearer wrong' }),
      'SERVICE_UNAUTHORIZED',
      /Bearer/,
    )
  })

  test('counts beside the password that a proxy in front of the service asks for', async () => {
    const answer = await visitor.get('/api/session', { authorization: 'Basic YTpi' })
    assert.equal((answer.body as { actor: string }).actor, 'dashboard')
  })

  test('tells an unknown route from one that needs a sign-in', async () => {
    assertRefused(await visitor.get('/api/nothing'), 'SERVICE_ROUTE_NOT_FOUND')
    assertRefused(await visitor.request('POST', '/api/version'), 'SERVICE_METHOD_NOT_ALLOWED')
  })

  test('counts below /api only', async () => {
    assertRefused(await visitor.request('DELETE', '/metrics'), 'SERVICE_UNAUTHORIZED', /Bearer/)
    assertRefused(await visitor.get('/nothing'), 'SERVICE_UNAUTHORIZED', /Bearer/)
    assertRefused(await visitor.get('/apinothing'), 'SERVICE_UNAUTHORIZED', /Bearer/)
  })

  test('is no signature of a callback', async () => {
    const body = { event: 'message_created', id: 1, message_type: 'outgoing', content: 'hello' }
    const answer = await visitor.request('POST', '/api/instances/shop/webhook', { body })
    assert.equal(answer.status, 401)
    assert.match(answer.text, /not signed/)
  })
})

test('a sign-in from the page of another site is refused, and says how to set up a proxy', async () => {
  await using service = await Service.start()
  const visitor = new DashboardVisitor(service.url)
  const from = (headers: Record<string, string | null>) =>
    visitor.request('POST', '/api/session', { body: { token: apiToken }, headers })
  assertRefused(await from({ origin: 'https://bridge.example' }), 'SERVICE_OTHER_ORIGIN', /SERVICE_TRUST_PROXY/)
  assertRefused(await from({ 'sec-fetch-site': 'cross-site' }), 'SERVICE_OTHER_ORIGIN', /another site/)
  assert.equal(visitor.cookie, '')
  const script = { origin: null, 'sec-fetch-site': null, 'x-causeway-dashboard': null }
  assert.equal((await from(script)).status, 200, 'a caller without a browser sends none of the headers')
})

test('behind a proxy Origin is compared with the host that the browser asked for', async () => {
  const proxied = { 'x-forwarded-host': 'bridge.example', 'x-forwarded-proto': 'https' }
  const origin = 'https://bridge.example'
  await using trusting = await Service.start({ environment: { SERVICE_TRUST_PROXY: 'true' } })
  const inside = await DashboardVisitor.signIn(trusting.url)
  const put = (visitor: DashboardVisitor, headers: Record<string, string>) =>
    visitor.request('PUT', '/api/tenants/acme', { body: tenant, headers })
  assert.equal((await put(inside, { ...proxied, origin })).status, 200)
  assertRefused(await put(inside, { ...proxied, origin: 'http://bridge.example' }), 'SERVICE_UNAUTHORIZED', /Origin/)
  assertRefused(await put(inside, proxied), 'SERVICE_UNAUTHORIZED', /Origin/)
  await using plain = await Service.start()
  const outside = await DashboardVisitor.signIn(plain.url)
  assertRefused(await put(outside, { ...proxied, origin }), 'SERVICE_UNAUTHORIZED', /Origin/)
})
