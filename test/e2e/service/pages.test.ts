// What a browser meets: the root, the icon, and the headers of every answer.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { requestRaw } from '../../harness/raw-request.ts'
import { Service } from '../../harness/service.ts'

describe('without a token', () => {
  test('the root leads to the dashboard', async () => {
    await using service = await Service.start()
    const redirect = await fetch(`${service.url}/`, { redirect: 'manual' })
    assert.equal(redirect.status, 302)
    // Relative, so that it stays right behind a proxy that adds a path.
    assert.equal(redirect.headers.get('location'), 'static/index.html')
    const page = await fetch(`${service.url}/`)
    assert.equal(page.url, `${service.url}/static/index.html`)
    assert.match(await page.text(), /<title>Causeway/)
    assertRefused(await service.request('POST', '/'), 'SERVICE_METHOD_NOT_ALLOWED')
  })

  test('a browser asks each time whether a file has changed, and gets it only then', async () => {
    await using service = await Service.start()
    for (const path of [
      '/static/index.html',
      '/static/app/main.js',
      '/static/app/style.css',
      '/static/reference.css',
    ]) {
      // Not by fetch, which asks for the whole file.
      const ask = (headers: Record<string, string> = {}) => requestRaw(service.url, { path, headers })
      const first = await ask()
      assert.deepEqual([first.status, first.headers.get('cache-control')], [200, 'no-cache'], path)
      const etag = first.headers.get('etag') ?? ''
      assert.notEqual(etag, '', path)
      const again = await ask({ 'if-none-match': etag })
      assert.deepEqual([again.status, again.headers.get('cache-control'), again.text], [304, 'no-cache', ''], path)
      assert.equal((await ask({ 'if-none-match': 'W/"other"' })).status, 200, path)
    }
  })

  test('modules have a type that browsers run', async () => {
    await using service = await Service.start()
    const { headers } = await fetch(`${service.url}/static/app/main.js`)
    assert.match(headers.get('content-type') ?? '', /^(text|application)\/javascript; charset=utf-8$/i)
  })

  test('the icon is served where browsers look for it, and beside the reference page', async () => {
    await using service = await Service.start()
    for (const path of ['/favicon.ico', '/static/favicon.ico']) {
      const icon = await fetch(`${service.url}${path}`)
      assert.equal(icon.status, 200, path)
      assert.match(icon.headers.get('content-type') ?? '', /^image\/(x-icon|vnd\.microsoft\.icon)$/)
      const bytes = Buffer.from(await icon.arrayBuffer())
      assert.deepEqual([...bytes.subarray(0, 4)], [0, 0, 1, 0], 'an icon file')
    }
  })

  test('other paths at the root still need a token', async () => {
    await using service = await Service.start()
    assertRefused(await service.request('GET', '/robots.txt', { token: null }), 'SERVICE_UNAUTHORIZED')
  })
})

describe('strict transport security', () => {
  const header = async (service: Service, headers: Record<string, string>) =>
    (await service.get('/static/reference.css', headers)).headers.get('strict-transport-security')

  test('is not asked for over plain http, and a client cannot pretend to come over https', async () => {
    await using service = await Service.start()
    assert.equal(await header(service, {}), null)
    assert.equal(await header(service, { 'x-forwarded-proto': 'https' }), null)
  })

  test('is asked for behind a trusted proxy that speaks https, for this host alone', async () => {
    await using service = await Service.start({ environment: { SERVICE_TRUST_PROXY: 'true' } })
    assert.equal(await header(service, { 'x-forwarded-proto': 'https' }), 'max-age=31536000')
    assert.equal(await header(service, { 'x-forwarded-proto': 'http' }), null)
    // The last entry is the one that the proxy in front of the service wrote.
    assert.equal(await header(service, { 'x-forwarded-proto': 'https, http' }), null)
    assert.equal(await header(service, {}), null)
  })
})
