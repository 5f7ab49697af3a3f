// Requests pass through real proxies that run with our files: what must pass does, and what must not stays outside.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fastify from 'fastify'
import { standardPort } from './harness/deploy-files.ts'
import { ProxiedService } from './harness/proxied-service.ts'
import type { ProxyName } from './harness/proxied-service.ts'
import { without } from './harness/tools.ts'

const files: Readonly<Record<ProxyName, string>> = {
  nginx: readFileSync('deploy/nginx/causeway.conf', 'utf8'),
  caddy: readFileSync('deploy/caddy/Caddyfile', 'utf8'),
}
const picture = '/api/instances/shop/groups/120363000000000001@g.us/picture'
const form = { 'content-type': 'multipart/form-data; boundary=x' }
const largestBody = (5 * 1024 + 64) * 1024
/** Caddy 2.6 of Debian answers 502 to a body that is too large. */
const refusals: Readonly<Record<ProxyName, readonly number[]>> = { nginx: [413], caddy: [413, 502] }

async function upload(proxied: ProxiedService, bytes: number): Promise<number> {
  const { statusCode, body } = await proxied.send('POST', picture, { headers: form, body: Buffer.alloc(bytes) })
  await body.dump()
  return statusCode
}

for (const name of ['nginx', 'caddy'] as const) {
  test(`the file of ${name} leads to the standard port on this machine`, () => {
    assert.ok(files[name].includes(` 127.0.0.1:${standardPort}`))
  })

  describe(`behind ${name}`, { skip: without(name, 'openssl'), concurrency: 2 }, () => {
    test('the API answers over https and HTTP/2', async () => {
      await using proxied = await ProxiedService.start(name)
      assert.equal(await proxied.protocol(), 'h2')
      const { statusCode, headers, body } = await proxied.get('/api/instances')
      assert.equal(statusCode, 200)
      assert.deepEqual(await body.json(), [])
      // The service sends this header only if it knows that the client came over https.
      assert.ok(headers['strict-transport-security'])
    })

    test('metrics are closed, and health shows no names to strangers', async () => {
      await using proxied = await ProxiedService.start(name, { SERVICE_HEALTH_DETAILS: 'token' })
      assert.equal((await proxied.service.get('/metrics')).status, 200)
      for (const path of [
        '/metrics',
        '/metrics/',
        '/metrics?x=1',
        '//metrics',
        '/%6detrics',
        '/metrics%2f',
        '/x/..%2fmetrics',
      ]) {
        assert.equal((await proxied.get(path)).statusCode, 404, path)
      }
      await proxied.service.request('POST', '/api/instances', { body: { name: 'shop' } })
      const health = await (await proxied.get('/api/health', { authorization: '' })).body.text()
      assert.ok(!health.includes('"shop"'), health)
    })

    test('a body passes up to the largest that the service takes, and no larger one', async () => {
      await using proxied = await ProxiedService.start(name)
      assert.equal(await upload(proxied, largestBody), 404)
      assert.ok(refusals[name].includes(await upload(proxied, largestBody + 1)))
      // The service itself draws the same line.
      const direct = async (bytes: number) =>
        (await proxied.service.request('POST', picture, { headers: form, body: Buffer.alloc(bytes) })).status
      assert.equal(await direct(largestBody), 404)
      assert.equal(await direct(largestBody + 1), 413)
    })

    test('events pass at once', async () => {
      await using proxied = await ProxiedService.start(name)
      const { statusCode, body } = await proxied.get('/api/events')
      assert.equal(statusCode, 200)
      let text = ''
      for await (const chunk of body as AsyncIterable<Buffer>) {
        text += chunk.toString()
        if (text.includes('event: hello') && !text.includes('event: instance'))
          await proxied.service.request('POST', '/api/instances', { body: { name: 'shop' } })
        if (text.includes('event: instance')) break
      }
      assert.match(text, /event: hello\n[^]*event: instance\n/)
    })

    test('a client cannot choose the address that the rate limit counts', async () => {
      await using proxied = await ProxiedService.start(name, { SERVICE_API_RATE_LIMIT: '3' })
      const statuses: number[] = []
      for (let each = 1; each <= 4; each += 1) {
        const { statusCode, body } = await proxied.get('/api/version', { 'x-forwarded-for': `192.0.2.${each}` })
        await body.dump()
        statuses.push(statusCode)
      }
      assert.deepEqual(statuses, [200, 200, 200, 429])
    })

    test('the dashboard of the same host can sign in', async () => {
      await using proxied = await ProxiedService.start(name)
      const headers = { 'content-type': 'application/json', origin: 'https://bridge.example.com' }
      const body = Buffer.from(JSON.stringify({ token: 'test-token' }))
      const answer = await proxied.send('POST', '/api/session', { headers, body })
      assert.equal(answer.statusCode, 200, await answer.body.text())
      assert.match(String(answer.headers['set-cookie']), /; Secure/)
    })
  })
}

test('nginx closes an idle connection to the service before the service does', async () => {
  await using app = fastify()
  const seconds = Number(/keepalive_timeout (\d+)s/.exec(files.nginx)?.[1])
  assert.ok(seconds * 1000 < (app.initialConfig.keepAliveTimeout ?? 0))
})

test('nginx keeps the events unbuffered, and headers with an underscore', () => {
  const events = /location = \/api\/events \{([^}]*)\}/.exec(files.nginx)?.[1] ?? ''
  assert.match(events, /proxy_buffering off;/)
  assert.match(files.nginx, /underscores_in_headers on;/)
})
