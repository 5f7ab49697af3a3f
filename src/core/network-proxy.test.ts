import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseNetworkProxy, proxyHost, shownProxy } from './network-proxy.ts'

const accepted: readonly [text: string, stored: string, shown: string][] = [
  ['http://proxy.example:8080', 'http://proxy.example:8080', 'http://proxy.example:8080'],
  ['http://proxy.example:8080/', 'http://proxy.example:8080', 'http://proxy.example:8080'],
  ['HTTPS://Proxy.Example', 'https://proxy.example', 'https://proxy.example'],
  ['http://user:pa%2Fss@10.0.0.7:3128', 'http://user:pa%2Fss@10.0.0.7:3128', 'http://10.0.0.7:3128'],
  ['http://user@proxy', 'http://user@proxy', 'http://proxy'],
  ['http://:secret@proxy', 'http://:secret@proxy', 'http://proxy'],
  ['socks5://user:secret@127.0.0.1:1080', 'socks5://user:secret@127.0.0.1:1080', 'socks5://127.0.0.1:1080'],
  ['socks5://proxy.internal', 'socks5://proxy.internal', 'socks5://proxy.internal'],
  ['socks5://[::1]:1080', 'socks5://[::1]:1080', 'socks5://[::1]:1080'],
]

for (const [text, stored, shown] of accepted) {
  test(`${text} is a proxy, and its user and password are not shown`, () => {
    const parsed = parseNetworkProxy(text)
    assert.equal(parsed, stored)
    assert.equal(shownProxy(stored), shown)
    assert.equal(parseNetworkProxy(stored), stored)
    assert.equal(shown.endsWith(proxyHost(stored)), true)
  })
}

const refused = [
  ...['', ' ', 'proxy.example:8080', '//proxy.example', 'http:proxy', 'http://', 'http:///x', 'socks5://', 'socks5:x'],
  ...['ftp://proxy', 'socks4://proxy', 'socks5h://proxy', 'ws://proxy', 'file:///etc/passwd', 'javascript:alert(1)'],
  ...['http://proxy:0', 'http://proxy:65536', 'http://proxy:x', 'http://user:pass@', 'http://pro xy', ' http://proxy'],
  ...['http://proxy/path', 'http://proxy?x=1', 'http://proxy#x', 'http://user:pa/ss@proxy', 'http://user:pa#ss@proxy'],
  ...['http://pro\nxy', 'http://pro\txy', 'http://proxy\u0000', 'http://user:%zz@proxy', 'socks5://%ff@proxy'],
  `http://${'a'.repeat(2048)}`,
  `socks5://${'u'.repeat(256)}@proxy`,
  `socks5://u:${'%C3%A9'.repeat(128)}@proxy`,
]

for (const text of refused) {
  test(`${JSON.stringify(text.slice(0, 60))} is not a proxy`, () => {
    assert.equal(parseNetworkProxy(text), undefined)
  })
}

test('any user and password survive, and are never shown', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('http', 'https', 'socks5'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter((text) => text.isWellFormed()),
      (scheme, secret) => {
        const named = `${scheme}://u${encodeURIComponent(secret)}:${encodeURIComponent(secret)}@proxy.example:3128`
        const proxy = parseNetworkProxy(named) ?? assert.fail('not accepted')
        const { username, password } = new URL(proxy)
        assert.deepEqual([decodeURIComponent(username), decodeURIComponent(password)], [`u${secret}`, secret])
        assert.equal(shownProxy(proxy), `${scheme}://proxy.example:3128`)
      },
    ),
  )
})

test('no text makes the parser throw, and an accepted one is shown without an @', () => {
  fc.assert(
    fc.property(fc.constantFrom('http://', 'socks5://', ''), fc.string({ unit: 'binary' }), (scheme, text) => {
      const proxy = parseNetworkProxy(`${scheme}${text}`)
      if (proxy !== undefined) assert.equal(shownProxy(proxy).includes('@'), false)
    }),
  )
})
