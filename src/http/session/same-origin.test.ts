import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { findOtherOrigin, findSessionRefusal } from './same-origin.ts'
import type { Asked } from './same-origin.ts'

const host = 'bridge.example:3100'
const own = { origin: `http://${host}`, 'sec-fetch-site': 'same-origin', 'x-causeway-dashboard': '1' }
const change = (headers: Record<string, string>, more: Partial<Asked> = {}): Asked => ({
  ...{ method: 'POST', host, protocol: 'http', headers, ...more },
})
const without = (name: keyof typeof own) => Object.fromEntries(Object.entries(own).filter(([each]) => each !== name))

describe('a change', () => {
  test('of our own page counts', () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      assert.equal(findSessionRefusal(change(own, { method })), null, method)
    }
  })

  test('counts also if the browser sends no Sec-Fetch-Site, as over plain http', () => {
    assert.equal(findSessionRefusal(change(without('sec-fetch-site'))), null)
  })

  test('does not count without Origin or without the header of the dashboard', () => {
    assert.match(findSessionRefusal(change(without('origin'))) ?? '', /Origin is missing/)
    assert.match(
      findSessionRefusal(change(without('x-causeway-dashboard'))) ?? '',
      /x-causeway-dashboard: 1 is missing/,
    )
    assert.match(findSessionRefusal(change({ ...own, 'x-causeway-dashboard': '' })) ?? '', /x-causeway-dashboard/)
  })

  test('does not count if the browser names another site', () => {
    for (const site of ['cross-site', 'same-site', 'none', '', 'same-origin, cross-site', 'SAME-ORIGIN']) {
      assert.match(findSessionRefusal(change({ ...own, 'sec-fetch-site': site })) ?? '', /another site/, site)
    }
  })

  test('does not count with the Origin of another page', () => {
    for (const origin of [
      ...['null', '', 'http://other.example', 'http://bridge.example', 'http://bridge.example:3101', host, `//${host}`],
      ...[`http://${host}/`, `http://${host}.evil.example`, `http://evil@${host}`, `ftp://${host}`, `HTTP://${host}`],
    ]) {
      assert.match(findSessionRefusal(change({ ...own, origin })) ?? '', /Origin is not/, origin)
    }
  })

  test('counts on the usual port whether Host names the port or not', () => {
    const asked = (origin: string, at: string, protocol: Asked['protocol']) =>
      findSessionRefusal(change({ ...own, origin }, { host: at, protocol }))
    assert.equal(asked('https://bridge.example', 'bridge.example', 'https'), null)
    assert.equal(asked('https://bridge.example', 'bridge.example:443', 'https'), null)
    assert.equal(asked('https://bridge.example', 'BRIDGE.example', 'https'), null)
    assert.equal(asked('http://[::1]:3100', '[::1]:3100', 'http'), null)
    assert.match(asked('https://bridge.example', 'bridge.example:80', 'https') ?? '', /Origin/)
  })

  test('over https does not count with a page that came over plain http', () => {
    const headers = { ...own, origin: 'http://bridge.example' }
    assert.match(findSessionRefusal(change(headers, { host: 'bridge.example', protocol: 'https' })) ?? '', /Origin/)
  })

  test('counts behind a proxy that does not say that it speaks https', () => {
    assert.equal(findSessionRefusal(change({ ...own, origin: `https://${host}` })), null)
  })
})

describe('a request that reads', () => {
  const read = (headers: Record<string, string>, method = 'GET') => findSessionRefusal(change(headers, { method }))

  test('counts without the headers of the dashboard: pictures and streams cannot send them', () => {
    for (const method of ['GET', 'HEAD']) {
      assert.equal(read({}, method), null)
      assert.equal(read({ 'sec-fetch-site': 'same-origin' }, method), null)
      assert.equal(read({ 'sec-fetch-site': 'none' }, method), null)
    }
  })

  test('does not count if another site asks', () => {
    assert.match(read({ 'sec-fetch-site': 'same-site' }) ?? '', /another site/)
    assert.match(read({ 'sec-fetch-site': 'cross-site' }) ?? '', /another site/)
    assert.match(read({ origin: 'http://other.example' }) ?? '', /Origin/)
  })
})

test('any Origin and any Host are read without an error', () => {
  const text = fc.string({ unit: 'binary' })
  fc.assert(
    fc.property(text, text, (origin, at) => {
      const refusal = findOtherOrigin({ method: 'POST', host: at, protocol: 'http', headers: { origin } })
      assert.ok(refusal !== null || URL.parse(origin)?.origin === origin)
    }),
  )
})
