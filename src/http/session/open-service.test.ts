import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findStranger } from './open-service.ts'

const ask = (host: string | undefined, headers: Record<string, string> = {}, method = 'GET') =>
  findStranger(
    {
      ...{ method, host: host ?? '', protocol: 'http' as const },
      headers: { ...(host !== undefined && { host }), ...headers },
    },
    'https://bridge.example/causeway',
  )

describe('without a token', () => {
  test('an address, a name of the own network and the public host are served', () => {
    for (const host of [
      ...['127.0.0.1:3100', '127.0.0.1', '[::1]:3100', '192.0.2.7:80', 'localhost:3100', 'LOCALHOST', 'causeway:3100'],
      ...[
        'bridge.localhost',
        'mac.local:3100',
        'host.docker.internal:3100',
        'pi.home.arpa',
        'bridge.example',
        undefined,
      ],
    ]) {
      assert.equal(ask(host), null, host)
    }
  })

  test('any other name may be that of a stranger', () => {
    for (const host of [
      ...[
        'evil.example',
        'evil.example:3100',
        'bridge.example.evil.test',
        'notlocal.example',
        'evil.localhost.example',
      ],
      ...['127.0.0.1.nip.example', 'evil.local.', 'xinternal.test', 'a.notlocal'],
    ]) {
      assert.match(ask(host) ?? '', /SERVICE_API_TOKEN is empty/, host)
    }
  })

  test('the host that a proxy names does not count: a page may send that header', () => {
    // With SERVICE_TRUST_PROXY, `host` is X-Forwarded-Host.
    const asked = { method: 'GET', host: 'localhost', protocol: 'http' as const, headers: { host: 'evil.example' } }
    assert.match(findStranger(asked, null) ?? '', /SERVICE_API_TOKEN is empty/)
  })

  test('a request of the page of another site is not served', () => {
    const own = { origin: 'http://127.0.0.1:3100', 'sec-fetch-site': 'same-origin' }
    assert.equal(ask('127.0.0.1:3100', own, 'POST'), null)
    assert.match(ask('127.0.0.1:3100', { ...own, 'sec-fetch-site': 'cross-site' }, 'POST') ?? '', /another site/)
    assert.match(ask('127.0.0.1:3100', { origin: 'https://evil.example' }, 'POST') ?? '', /Origin is not/)
    assert.match(ask('127.0.0.1:3100', { 'sec-fetch-site': 'same-site' }) ?? '', /another site/)
  })
})
