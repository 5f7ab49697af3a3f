import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { Service } from '../../harness/service.ts'

type Entry = { action: string; actor: string; target: string; metadata: Record<string, unknown> }

const full = {
  downstream_base_url: 'https://desk.example/',
  downstream_api_token: 'canary-api-token',
  downstream_account_id: 4,
  downstream_inbox_id: 9,
  webhook_hmac_secret: 'canary-hmac-secret',
}
const minimal = { downstream_base_url: 'http://desk.internal:3000', downstream_api_token: 'canary-second-token' }

const auditOf = async (service: Service) =>
  ((await service.get('/api/audit')).body as { entries: Entry[] }).entries.filter(({ action }) =>
    action.startsWith('tenant.'),
  )

for (const engine of drawnEngines(import.meta.url)) {
  describe(`tenant endpoints on ${engine}`, () => {
    test('a tenant is created, read, listed, replaced, changed and removed', async () => {
      const clock = new ManualClock()
      await using service = await Service.start({ engine, clock })
      const at = new Date(clock.now()).toISOString()
      const shown = {
        owner_tag: 'acme',
        downstream_base_url: 'https://desk.example',
        downstream_account_id: 4,
        downstream_inbox_id: 9,
        created_at: at,
        updated_at: at,
      }
      const created = await service.request('PUT', '/api/tenants/acme', { body: full })
      assert.deepEqual([created.status, created.body], [200, { ...shown, message: 'saved' }])
      assert.deepEqual((await service.get('/api/tenants/acme')).body, shown)
      assert.deepEqual((await service.get('/api/tenants')).body, [shown])

      await clock.advance(1000)
      const replaced = await service.request('PUT', '/api/tenants/acme', { body: minimal })
      const later = new Date(clock.now()).toISOString()
      const replacedShown = {
        ...shown,
        downstream_base_url: 'http://desk.internal:3000',
        downstream_account_id: 1,
        downstream_inbox_id: 0,
        updated_at: later,
      }
      assert.deepEqual(replaced.body, { ...replacedShown, message: 'saved' })

      const patched = await service.request('PATCH', '/api/tenants/acme', {
        body: { downstream_inbox_id: 3, unknown: 1 },
      })
      assert.deepEqual(patched.body, { ...replacedShown, downstream_inbox_id: 3, message: 'updated' })

      const removed = await service.request('DELETE', '/api/tenants/acme')
      assert.deepEqual([removed.status, removed.body], [200, { message: 'deleted', owner_tag: 'acme' }])
      assertRefused(await service.get('/api/tenants/acme'), 'SERVICE_TENANT_NOT_FOUND', /acme/)
    })

    test('every change is audited by field names and open values only', async () => {
      await using service = await Service.start({ engine })
      await service.request('PUT', '/api/tenants/acme', { body: full })
      await service.request('PATCH', '/api/tenants/acme', {
        body: { webhook_hmac_secret: 'x', downstream_account_id: 2 },
      })
      await service.request('DELETE', '/api/tenants/acme')
      assert.deepEqual(
        (await auditOf(service)).map(({ action, actor, target, metadata }) => ({ action, actor, target, metadata })),
        [
          { action: 'tenant.delete', actor: 'api', target: 'acme', metadata: {} },
          {
            action: 'tenant.patch',
            actor: 'api',
            target: 'acme',
            metadata: { fields: ['downstream_account_id', 'webhook_hmac_secret'] },
          },
          {
            action: 'tenant.upsert',
            actor: 'api',
            target: 'acme',
            metadata: {
              downstream_base_url: 'https://desk.example',
              downstream_account_id: 4,
              downstream_inbox_id: 9,
              webhook_hmac_secret_set: true,
            },
          },
        ],
      )
    })

    test('an unknown tenant is 404 for every route but PUT, and nothing is recorded', async () => {
      await using service = await Service.start({ engine })
      for (const [method, body] of [['GET'], ['PATCH', minimal], ['PATCH', {}], ['DELETE']] as const) {
        const answer = await service.request(method, '/api/tenants/nobody', body === undefined ? {} : { body })
        assertRefused(answer, 'SERVICE_TENANT_NOT_FOUND')
      }
      assert.deepEqual(await auditOf(service), [])
    })
  })
}

test('stored secrets appear in no answer, audit entry, log or metric', async () => {
  await using service = await Service.start({ environment: { LOG_LEVEL: 'trace' } })
  const seen: string[] = []
  for (const [method, path, body] of [
    ['PUT', '/api/tenants/acme', full],
    ['PUT', '/api/tenants/acme', { ...full, downstream_account_id: 'canary-wrong-type' }],
    ['PATCH', '/api/tenants/acme', { webhook_hmac_secret: 'canary-rotated' }],
    ['PATCH', '/api/tenants/acme', { webhook_hmac_secret: ['canary-array'] }],
    ['GET', '/api/tenants/acme', undefined],
    ['GET', '/api/tenants', undefined],
    ['GET', '/api/audit', undefined],
    ['GET', '/api/health', undefined],
    ['GET', '/metrics', undefined],
    ['DELETE', '/api/tenants/acme', undefined],
  ] as const) {
    seen.push((await service.request(method, path, body === undefined ? {} : { body })).text)
  }
  const { lines } = service.doorLogs
  seen.push(...lines, ...service.logs.lines)
  assert.ok(lines.length > 10)
  assert.deepEqual(
    seen.filter((text) => text.includes('canary')),
    [],
  )
})

const wrongBodies: [string, unknown, RegExp][] = [
  ['no base URL', { downstream_api_token: 't' }, /downstream_base_url/],
  ['no token', { downstream_base_url: 'https://a' }, /downstream_api_token/],
  ['a null base URL', { ...full, downstream_base_url: null }, /downstream_base_url must be string/],
  ['an empty base URL', { ...full, downstream_base_url: '' }, /downstream_base_url must be an http/],
  ['a null token', { ...full, downstream_api_token: null }, /downstream_api_token must be string/],
  ['an empty token', { ...full, downstream_api_token: '' }, /downstream_api_token/],
  ['another scheme', { ...full, downstream_base_url: 'ftp://a' }, /http/],
  ['no URL at all', { ...full, downstream_base_url: 'desk.example' }, /http/],
  ['a script', { ...full, downstream_base_url: 'javascript:alert(1)' }, /http/],
  ['credentials in the URL', { ...full, downstream_base_url: 'https://u:p@a' }, /user name/],
  ['a query in the URL', { ...full, downstream_base_url: 'https://a?x=1' }, /query/],
  ['an account that is text', { ...full, downstream_account_id: '4' }, /downstream_account_id must be integer/],
  ['an account that is broken', { ...full, downstream_account_id: 1.5 }, /integer/],
  ['a negative inbox', { ...full, downstream_inbox_id: -1 }, /downstream_inbox_id/],
  ['a huge inbox', { ...full, downstream_inbox_id: 1e18 }, /downstream_inbox_id/],
  ['a secret that is an object', { ...full, webhook_hmac_secret: {} }, /webhook_hmac_secret must be string/],
  ['an empty query in the URL', { ...full, downstream_base_url: 'https://a?' }, /query/],
  ['an empty fragment in the URL', { ...full, downstream_base_url: 'https://a/#' }, /query/],
  ['a space in the URL', { ...full, downstream_base_url: 'https://a/b c' }, /spaces/],
  ['a space before the URL', { ...full, downstream_base_url: ' https://a' }, /spaces/],
  ['a line break in the URL', { ...full, downstream_base_url: 'https://a/\n' }, /spaces/],
  [
    'a NUL in the URL',
    { ...full, downstream_base_url: 'https://a/\u0000' },
    /downstream_base_url must not contain a NUL/,
  ],
  ['a NUL in the token', { ...full, downstream_api_token: 't\u0000' }, /downstream_api_token is not .*printable ASCII/],
  [
    'a character in the token that no header can carry',
    { ...full, downstream_api_token: 'a–b' },
    /downstream_api_token is not .*printable ASCII/,
  ],
  ['a line break in the token', { ...full, downstream_api_token: 't\r\nx: y' }, /downstream_api_token/],
  ['a NUL in the secret', { ...full, webhook_hmac_secret: '\u0000' }, /webhook_hmac_secret must not contain a NUL/],
  ['an over-long token', { ...full, downstream_api_token: 'x'.repeat(4097) }, /downstream_api_token/],
]

for (const engine of drawnEngines(import.meta.url)) {
  test(`PUT refuses wrong values and changes nothing, on ${engine}`, async (context) => {
    await using service = await Service.start({ engine })
    for (const [what, body, sentence] of wrongBodies) {
      await context.test(what, async () => {
        assertRefused(await service.request('PUT', '/api/tenants/acme', { body }), 'SERVICE_BAD_REQUEST', sentence)
      })
    }
    assert.deepEqual((await service.get('/api/tenants')).body, [])
    assert.deepEqual(await auditOf(service), [])
  })
}

test('a base URL is stored in one spelling', async () => {
  await using service = await Service.start()
  for (const [given, stored] of [
    ['HTTPS://Desk.Example:443//', 'https://desk.example'],
    ['https://desk.example/a/../chat//', 'https://desk.example/chat'],
    ['http://[::1]:3000/x', 'http://[::1]:3000/x'],
    ['https://desk.example\\chat', 'https://desk.example/chat'],
  ]) {
    const body = { ...minimal, downstream_base_url: given }
    const answer = await service.request('PUT', '/api/tenants/acme', { body })
    assert.equal((answer.body as { downstream_base_url: string }).downstream_base_url, stored)
  }
})

test('PATCH keeps absent and null fields, clears the secret with an empty text, and refuses wrong ones whole', async () => {
  await using service = await Service.start()
  await service.request('PUT', '/api/tenants/acme', { body: full })
  const before = (await service.get('/api/tenants/acme')).body
  const nothing = await service.request('PATCH', '/api/tenants/acme', { body: {} })
  assert.deepEqual(nothing.body, { ...(before as object), message: 'updated' })
  const nulls = Object.fromEntries(Object.keys(full).map((key) => [key, null]))
  await service.request('PATCH', '/api/tenants/acme', { body: nulls })
  assert.deepEqual((await service.get('/api/tenants/acme')).body, before)
  for (const wrong of [
    { downstream_inbox_id: 1, downstream_base_url: '' },
    { downstream_inbox_id: 1, downstream_api_token: '' },
    { downstream_inbox_id: 1, downstream_account_id: true },
    { downstream_inbox_id: 1, downstream_account_id: 0 },
    { downstream_inbox_id: '1' },
    [],
    'text',
  ]) {
    assertRefused(await service.request('PATCH', '/api/tenants/acme', { body: wrong }), 'SERVICE_BAD_REQUEST')
  }
  assert.deepEqual((await service.get('/api/tenants/acme')).body, before)
  assert.equal((await auditOf(service)).length, 1)
})

test('owner tags are any printable text, percent-encoded; others are refused', async () => {
  await using service = await Service.start()
  for (const tag of ['a b', 'ação', '日本', '../etc', '..%2f', 'a/b', '__proto__', 'constructor', 'x'.repeat(128)]) {
    const path = `/api/tenants/${encodeURIComponent(tag)}`
    assert.equal((await service.request('PUT', path, { body: minimal })).status, 200, tag)
    assert.equal(((await service.get(path)).body as { owner_tag: string }).owner_tag, tag)
    assert.equal((await service.request('DELETE', path)).status, 200, tag)
  }
  for (const tag of [
    '%00',
    'a%0ab',
    '%7f',
    '%e2%80%8b',
    'x'.repeat(129),
    '%F0%9F%8C%89'.repeat(129).slice(0, 12 * 40) + 'x'.repeat(100),
  ]) {
    assertRefused(
      await service.request('PUT', `/api/tenants/${tag}`, { body: minimal }),
      'SERVICE_BAD_REQUEST',
      /owner_tag/,
    )
  }
  assert.deepEqual((await service.get('/api/tenants')).body, [])
})
