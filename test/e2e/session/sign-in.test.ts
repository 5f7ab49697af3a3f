// Signing in to the dashboard: what the token opens, for how long, and what ends it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { DashboardVisitor } from '../../harness/dashboard-visitor.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { requestRaw } from '../../harness/raw-request.ts'
import { apiToken, Service } from '../../harness/service.ts'
import { manyHours } from '../../harness/stranger.ts'

const minutes = 60_000
const hours = 60 * minutes

const signIn = (service: Service, token: unknown, headers: Record<string, string> = {}) =>
  service.request('POST', '/api/session', { token: null, body: { token }, headers })
const cookiesOf = ({ headers }: { headers: Headers }) => headers.getSetCookie()

describe('the token', () => {
  test('gives a cookie that opens the API for 12 hours', async () => {
    const clock = new ManualClock()
    await using service = await Service.start({ clock })
    const answer = await signIn(service, apiToken)
    const expires_at = new Date(clock.now() + 12 * hours).toISOString()
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body, { expires_at })
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const [cookie = '', ...others] = cookiesOf(answer)
    assert.deepEqual(others, [])
    assert.match(
      cookie,
      /^causeway_session=v1\.\d+\.[\w-]{22}\.[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/api; Max-Age=43200$/,
    )
    const visitor = await DashboardVisitor.signIn(service.url)
    assert.deepEqual((await visitor.get('/api/session')).body, { actor: 'dashboard', expires_at })
    const version = await visitor.get('/api/version')
    assert.equal(version.status, 200)
    assert.equal(version.headers.get('cache-control'), 'no-store')
    assert.deepEqual(cookiesOf(version), [])
  })

  test('is refused when it is wrong, and no cookie is given', async () => {
    await using service = await Service.start()
    for (const token of ['', 'wrong', `${apiToken} `, apiToken.toUpperCase()]) {
      const answer = await signIn(service, token)
      assertRefused(answer, 'SERVICE_UNAUTHORIZED', /SERVICE_API_TOKEN/)
      assert.deepEqual(cookiesOf(answer), [])
    }
  })

  test('must be a text', async () => {
    await using service = await Service.start()
    for (const token of [undefined, null, 7, true, [apiToken], { token: apiToken }, 'x'.repeat(4097)]) {
      assertRefused(await signIn(service, token), 'SERVICE_BAD_REQUEST', /token/)
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const posted = await service.request('POST', '/api/session', { token: null, body: 'token=x', headers: form })
    assertRefused(posted, 'SERVICE_UNSUPPORTED_MEDIA_TYPE')
  })

  test('comes in a small body: callers without a token take no room for large bodies', async () => {
    await using service = await Service.start({ environment: { SERVICE_BODY_LIMIT: '64mb' } })
    assertRefused(await signIn(service, 'x'.repeat(40_000)), 'SERVICE_BODY_TOO_LARGE')
    const escaped = `{"token":"${'\\u0041'.repeat(4096)}"}`
    const headers = { 'content-type': 'application/json' }
    const longest = await service.request('POST', '/api/session', { token: null, body: escaped, headers })
    assertRefused(longest, 'SERVICE_UNAUTHORIZED')
  })

  test('does not appear in the log', async () => {
    await using service = await Service.start({ environment: { SERVICE_API_TOKEN: 'a-secret-to-find' } })
    await signIn(service, 'a-secret-to-find')
    await signIn(service, 'a-wrong-one-to-find')
    const visitor = await DashboardVisitor.signIn(service.url, 'a-secret-to-find')
    await visitor.get('/api/version')
    const log = JSON.stringify(service.logs.lines)
    assert.match(log, /request answered/)
    assert.doesNotMatch(log, /to-find/)
    assert.equal(log.includes(visitor.cookie.slice(-43)), false)
  })
})

describe('five wrong tokens a minute', () => {
  test('make the address wait, also with the right token', async () => {
    const clock = new ManualClock()
    await using service = await Service.start({ clock })
    for (let n = 0; n < 5; n++) assertRefused(await signIn(service, `guess ${n}`), 'SERVICE_UNAUTHORIZED')
    const refused = await signIn(service, apiToken)
    assertRefused(refused, 'SERVICE_RATE_LIMITED', /wait 60 s/)
    assert.equal(refused.headers.get('retry-after'), '60')
    assert.deepEqual(cookiesOf(refused), [])
    assert.equal((await service.get('/api/version')).status, 200, 'callers with the token are not held up')
    await clock.advance(minutes - 1)
    assertRefused(await signIn(service, apiToken), 'SERVICE_RATE_LIMITED', /wait 1 s/)
    await clock.advance(1)
    assert.equal((await signIn(service, apiToken)).status, 200)
  })

  test('are counted for wrong tokens only', async () => {
    await using service = await Service.start()
    for (let n = 0; n < 8; n++) assert.equal((await signIn(service, apiToken)).status, 200)
    for (let n = 0; n < 4; n++) await signIn(service, 'wrong')
    assert.equal((await signIn(service, apiToken)).status, 200)
  })

  test('are counted for each client behind a trusted proxy, and a client cannot choose its address', async () => {
    await using trusting = await Service.start({ environment: { SERVICE_TRUST_PROXY: 'true' } })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    for (let n = 0; n < 5; n++) await signIn(trusting, 'wrong', from('192.0.2.1'))
    assertRefused(await signIn(trusting, apiToken, from('192.0.2.1')), 'SERVICE_RATE_LIMITED')
    assertRefused(await signIn(trusting, apiToken, from('192.0.2.9, 192.0.2.1')), 'SERVICE_RATE_LIMITED')
    assert.equal((await signIn(trusting, apiToken, from('192.0.2.2'))).status, 200)
    await using plain = await Service.start()
    for (let n = 0; n < 5; n++) await signIn(plain, 'wrong', from(`192.0.2.${n}`))
    assertRefused(await signIn(plain, apiToken, from('192.0.2.99')), 'SERVICE_RATE_LIMITED')
  })
})

describe('the question who the caller is', () => {
  test('is answered without credentials, and refused with wrong ones', async () => {
    await using service = await Service.start()
    const visitor = new DashboardVisitor(service.url)
    const ask = (headers: Record<string, string | null> = {}) => visitor.get('/api/session', headers)
    const stranger = { actor: null, expires_at: null }
    assert.deepEqual((await ask()).body, stranger)
    assert.deepEqual((await ask({ cookie: 'another=1' })).body, stranger)
    assert.deepEqual((await ask({ authorization: 'Basic YTpi' })).body, stranger)
    const known = await ask({ authorization: `Bearer ${apiToken}` })
    assert.deepEqual(known.body, { actor: 'api', expires_at: null })
    assertRefused(await ask({ authorization: 'Bearer wrong' }), 'SERVICE_UNAUTHORIZED', /Bearer/)
    assertRefused(await ask({ cookie: 'causeway_session=x' }), 'SERVICE_UNAUTHORIZED', /sign in again/)
    assertRefused(await ask({ cookie: 'causeway_session=' }), 'SERVICE_UNAUTHORIZED')
  })
})

describe('a session', () => {
  test('goes on while it is used, and ends 12 hours after that', { skip: manyHours }, async () => {
    const clock = new ManualClock()
    await using service = await Service.start({ clock })
    const visitor = await DashboardVisitor.signIn(service.url)
    const first = visitor.cookie
    await clock.advance(15 * minutes - 1)
    assert.deepEqual(cookiesOf(await visitor.get('/api/version')), [])
    await clock.advance(1)
    const renewed = await visitor.get('/api/session')
    assert.match(cookiesOf(renewed).join(), /^causeway_session=v1.*; Max-Age=43200$/)
    assert.equal((renewed.body as { expires_at: string }).expires_at, new Date(clock.now() + 12 * hours).toISOString())
    assert.notEqual(visitor.cookie, first)
    for (let n = 0; n < 3; n++) {
      await clock.advance(11 * hours)
      assert.equal((await visitor.get('/api/version')).status, 200)
    }
    assertRefused(await visitor.get('/api/version', { cookie: first }), 'SERVICE_UNAUTHORIZED', /sign in again/)
    await clock.advance(12 * hours)
    assertRefused(await visitor.get('/api/version'), 'SERVICE_UNAUTHORIZED', /sign in again/)
  })

  test('survives a restart with the same token, and ends with a new token', async () => {
    await using first = await Service.start()
    const { cookie } = await DashboardVisitor.signIn(first.url)
    await using same = await Service.start()
    const back = new DashboardVisitor(same.url)
    assert.equal((await back.get('/api/version', { cookie })).status, 200)
    await using other = await Service.start({ environment: { SERVICE_API_TOKEN: 'a new token' } })
    const away = new DashboardVisitor(other.url)
    assertRefused(await away.get('/api/version', { cookie }), 'SERVICE_UNAUTHORIZED', /sign in again/)
  })

  test('ends with the sign-out, also for a copy of its cookie; other sessions go on', async () => {
    const clock = new ManualClock()
    await using service = await Service.start({ clock })
    const visitor = await DashboardVisitor.signIn(service.url)
    const other = await DashboardVisitor.signIn(service.url)
    const copy = visitor.cookie
    // The cookie is old enough to be renewed by the same answer.
    await clock.advance(20 * minutes)
    const answer = await visitor.request('DELETE', '/api/session')
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body, { message: 'signed out' })
    assert.deepEqual(cookiesOf(answer), ['causeway_session=; HttpOnly; SameSite=Strict; Path=/api; Max-Age=0'])
    assert.equal(visitor.cookie, '')
    assert.deepEqual((await visitor.get('/api/session')).body, { actor: null, expires_at: null })
    assertRefused(await visitor.get('/api/session', { cookie: copy }), 'SERVICE_UNAUTHORIZED', /sign in again/)
    assert.equal((await other.get('/api/session')).status, 200)
    assertRefused(await visitor.request('DELETE', '/api/session'), 'SERVICE_UNAUTHORIZED')
  })

  test('has a cookie for https only behind a trusted proxy that speaks https', async () => {
    await using service = await Service.start({ environment: { SERVICE_TRUST_PROXY: 'true' } })
    const https = {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'bridge.example',
      origin: 'https://bridge.example',
    }
    const secure = await signIn(service, apiToken, https)
    assert.match(cookiesOf(secure).join(), /; Max-Age=43200; Secure$/)
    const visitor = new DashboardVisitor(service.url)
    const cookie = cookiesOf(secure)[0]?.split(';')[0] ?? ''
    const out = await visitor.request('DELETE', '/api/session', { headers: { ...https, cookie } })
    assert.equal(out.status, 200)
    assert.match(cookiesOf(out).join(), /; Max-Age=0; Secure$/)
    assert.doesNotMatch(cookiesOf(await signIn(service, apiToken)).join(), /Secure/)
  })
})

describe('without a token configured', () => {
  test('there is nothing to sign in to, and every caller is api', async () => {
    await using service = await Service.start({ environment: { SERVICE_API_TOKEN: '' } })
    const open = await service.request('GET', '/api/session', { token: null })
    assert.deepEqual(open.body, { actor: 'api', expires_at: null })
    const answer = await signIn(service, '')
    assertRefused(answer, 'SERVICE_NO_API_TOKEN', /every route is open/)
    assert.deepEqual(cookiesOf(answer), [])
    assert.equal((await service.request('DELETE', '/api/session', { token: null })).status, 200)
  })

  test('the page of a stranger reaches nothing: neither across sites nor under a name that leads to us', async () => {
    await using service = await Service.start({ environment: { SERVICE_API_TOKEN: '' } })
    const ask = (method: string, path: string, headers: Record<string, string>) =>
      service.request(method, path, { token: null, headers })
    const across = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    assertRefused(await ask('POST', '/api/backup', across), 'SERVICE_UNAUTHORIZED', /another site/)
    assertRefused(await ask('GET', '/api/instances', across), 'SERVICE_UNAUTHORIZED', /another site/)
    assert.deepEqual((await service.get('/api/backups')).body, { backups: [], making_since: null })
    const rebound = await requestRaw(service.url, {
      ...{ path: '/api/instances', headers: { host: 'evil.example', 'x-forwarded-host': 'localhost' } },
    })
    assertRefused(rebound, 'SERVICE_UNAUTHORIZED', /SERVICE_API_TOKEN is empty/)
    const probe = await requestRaw(service.url, { path: '/api/health', headers: { host: 'bridge.example' } })
    assert.equal(probe.status, 200, 'health needs no token anyway')
    const page = { origin: service.url, 'sec-fetch-site': 'same-origin' }
    assert.equal((await ask('GET', '/api/instances', page)).status, 200)
  })

  test('the host of SERVICE_PUBLIC_URL is served', async () => {
    await using service = await Service.start({
      environment: { SERVICE_API_TOKEN: '', SERVICE_PUBLIC_URL: 'https://bridge.example' },
    })
    const answer = await requestRaw(service.url, { path: '/api/instances', headers: { host: 'bridge.example' } })
    assert.equal(answer.status, 200)
  })
})
