// Runs alone: it measures how long the event loop of its process is busy.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { readGitCommit } from '../../../src/app/git-commit.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { perNode } from '../../harness/stranger.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { packageVersion } from '../../harness/package-version.ts'

test('version tells version, build and runtime', async () => {
  await using service = await Service.start()
  assert.deepEqual((await service.get('/api/version')).body, {
    version: packageVersion,
    commit: readGitCommit(process.cwd()) ?? 'unknown',
    build_date: 'unknown',
    go_version: `node ${process.version}`,
  })
})

test('metrics expose every metric of the interface with its type, and the runtime and process ones', async () => {
  await using service = await Service.start({
    seed: async (database) => {
      await database.write(
        database.query.insertInto('instances').values([sampleInstanceColumns('a'), sampleInstanceColumns('b')]),
      )
    },
  })
  const { headers, text } = await service.get('/metrics')
  assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  for (const [name, type] of Object.entries({
    service_messages_total: 'counter',
    service_spamguard_blocks_total: 'counter',
    service_lifecycle_events_total: 'counter',
    service_message_dispatch_errors_total: 'counter',
    service_lifecycle_webhook_retries_total: 'counter',
    service_realtime_events_total: 'counter',
    service_active_instances: 'gauge',
    service_total_instances: 'gauge',
    service_version_info: 'gauge',
    process_cpu_seconds_total: 'counter',
    process_resident_memory_bytes: 'gauge',
    nodejs_eventloop_lag_seconds: 'gauge',
    nodejs_heap_size_used_bytes: 'gauge',
  })) {
    assert.match(text, new RegExp(`^# TYPE ${name} ${type}$`, 'm'))
  }
  assert.match(text, /^service_active_instances 0$/m)
  assert.match(text, /^service_total_instances 2$/m)
  assert.match(text, /^service_version_info\{version="0\.65\.0"\} 1$/m)
})

test('the lag of an idle event loop reads about 0', async () => {
  await using service = await Service.start()
  const read = async (name: string) => {
    const { text } = await service.get('/metrics')
    return Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(text)?.[1])
  }
  const startedAt = performance.now()
  await waitUntil('some intervals are measured', () => performance.now() - startedAt > 1000)
  const lag = await read('p50')
  assert.ok(lag < 0.05, `half of the delays are above ${lag} s`)
})

test('the brand asset is a PNG', async () => {
  await using service = await Service.start()
  const response = await fetch(`${service.url}/static/brand-asset.png`)
  assert.equal(response.headers.get('content-type'), 'image/png')
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG')
})

describe('the OpenAPI document', () => {
  type Document = {
    openapi: string
    paths: Record<string, Record<string, { security?: unknown[]; operationId?: string; responses: object }>>
  }

  test('is valid 3.0.3, covers every route and says which need no token', async () => {
    await using service = await Service.start()
    const { body } = await service.get('/static/openapi.json')
    const document = body as Document
    assert.equal(document.openapi, '3.0.3')
    const result = await new Validator().validate(structuredClone(document))
    assert.ok(result.valid, JSON.stringify(result.errors))
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { security }]) =>
          `${method} ${path}${!security ? '' : security.length === 0 ? ' open' : ' optional'}`,
      ),
    )
    assert.deepEqual(operations.sort(), [
      'delete /api/instances/{name}',
      'delete /api/instances/{name}/groups/{jid}',
      'delete /api/instances/{name}/groups/{jid}/invite',
      'delete /api/instances/{name}/parked/{id}',
      'delete /api/jobs/{id}',
      'delete /api/session',
      'delete /api/tenants/{owner_tag}',
      'get /api/audit',
      'get /api/backups',
      'get /api/destinations',
      'get /api/events',
      'get /api/health open',
      'get /api/instances',
      'get /api/instances/bulk/status',
      'get /api/instances/{name}',
      'get /api/instances/{name}/ban-risk',
      'get /api/instances/{name}/check',
      'get /api/instances/{name}/deliveries',
      'get /api/instances/{name}/groups',
      'get /api/instances/{name}/groups/{jid}',
      'get /api/instances/{name}/groups/{jid}/invite',
      'get /api/instances/{name}/groups/{jid}/requests',
      'get /api/instances/{name}/numbers/{phone}',
      'get /api/instances/{name}/outbox',
      'get /api/instances/{name}/outbox/{queue_id}',
      'get /api/instances/{name}/parked',
      'get /api/instances/{name}/qr',
      'get /api/instances/{name}/state',
      'get /api/instances/{name}/states',
      'get /api/instances/{name}/usage',
      'get /api/instances/{name}/wait-ready',
      'get /api/jobs',
      'get /api/jobs/{id}',
      'get /api/nodes',
      'get /api/overview',
      'get /api/public/stats open',
      'get /api/ready open',
      'get /api/session optional',
      'get /api/settings',
      'get /api/support-bundle',
      'get /api/tenants',
      'get /api/tenants/{owner_tag}',
      'get /api/usage',
      'get /api/usage/summary',
      'get /api/version',
      'get /api/warnings',
      'get /metrics open',
      'patch /api/instances/{name}',
      'patch /api/tenants/{owner_tag}',
      'post /api/backup',
      'post /api/destinations/test',
      'post /api/instances',
      'post /api/instances/bulk',
      'post /api/instances/{name}/adopt',
      'post /api/instances/{name}/avatars/resync',
      'post /api/instances/{name}/check',
      'post /api/instances/{name}/contacts/import',
      'post /api/instances/{name}/contacts/repair',
      'post /api/instances/{name}/deliveries/{id}/redeliver',
      'post /api/instances/{name}/groups',
      'post /api/instances/{name}/groups/{jid}/announce',
      'post /api/instances/{name}/groups/{jid}/locked',
      'post /api/instances/{name}/groups/{jid}/name',
      'post /api/instances/{name}/groups/{jid}/participants',
      'post /api/instances/{name}/groups/{jid}/picture',
      'post /api/instances/{name}/groups/{jid}/requests',
      'post /api/instances/{name}/groups/{jid}/topic',
      'post /api/instances/{name}/history/import',
      'post /api/instances/{name}/history/import-all',
      'post /api/instances/{name}/history/import-all-async',
      'post /api/instances/{name}/inbox',
      'post /api/instances/{name}/logout',
      'post /api/instances/{name}/messages',
      'post /api/instances/{name}/messages/{waid}/edit',
      'post /api/instances/{name}/pairing-code',
      'post /api/instances/{name}/parked/retry',
      'post /api/instances/{name}/refresh-qr',
      'post /api/instances/{name}/restart',
      'post /api/instances/{name}/retroactive/reconcile',
      'post /api/instances/{name}/webhook open',
      'post /api/session open',
      'post /api/tenants/{owner_tag}/test',
      'put /api/tenants/{owner_tag}',
    ])
  })

  test('names every status that the server itself gives, and those of the webhook', async () => {
    await using service = await Service.start()
    const { paths } = (await service.get('/static/openapi.json')).body as Document
    const statuses = (path: string, method: string) => Object.keys(paths[path]?.[method]?.responses ?? {})
    assert.deepEqual(statuses('/api/instances/{name}/webhook', 'post'), [
      ...['200', '202', '400', '401', '404', '408', '413', '422', '500', '503'],
    ])
    assert.deepEqual(statuses('/api/instances', 'post'), [
      ...['200', '201', '400', '401', '404', '408', '409', '413', '415', '429', '500', '502', '503', '504'],
    ])
    assert.deepEqual(statuses('/api/instances/{name}/restart', 'post'), [
      ...['200', '400', '401', '404', '408', '413', '429', '500', '503', '504'],
    ])
    assert.deepEqual(statuses('/api/version', 'get'), ['200', '401', '429', '500', '503'])
    assert.deepEqual(statuses('/api/public/stats', 'get'), ['200', '403', '429', '500', '503'])
    assert.deepEqual(statuses('/api/health', 'get'), ['200', '500', '503'])
    assert.deepEqual(statuses('/api/ready', 'get'), ['200', '500', '503'])
    assert.deepEqual(statuses('/metrics', 'get'), ['200', '500'])
  })

  test('is shown on a page that names every operation', async () => {
    await using service = await Service.start()
    const document = (await service.get('/static/openapi.json')).body as Document
    const { text, headers } = await service.get('/static/reference.html')
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
    for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
      assert.ok(text.includes(`id="${operation.operationId ?? 'missing'}"`), operation.operationId)
    }
    assert.ok(!text.includes('<script'))
  })
})

describe('public stats', () => {
  const enabled = { PUBLIC_STATS_ENABLED: 'true' }

  test('are refused unless they are switched on', async () => {
    await using service = await Service.start()
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await service.request(method, '/api/public/stats', { token: null })
      assertRefused(answer, 'SERVICE_PUBLIC_STATS_DISABLED', /PUBLIC_STATS_ENABLED/)
    }
  })

  test('tell the totals, at most 30 s old', { skip: perNode }, async () => {
    const clock = new ManualClock()
    await using service = await Service.start({ environment: enabled, clock })
    const ask = async () => (await service.request('GET', '/api/public/stats', { token: null })).body
    const first = {
      instances_connected: 0,
      instances_total: 0,
      tenants_total: 0,
      messages_in_total: 0,
      messages_out_total: 0,
      version: packageVersion,
      last_updated: new Date(clock.now()).toISOString(),
    }
    assert.deepEqual(await ask(), first)
    const body = { downstream_base_url: 'https://a', downstream_api_token: 't' }
    await service.request('PUT', '/api/tenants/acme', { body })
    service.app.usage.count('a', '', 'messages_in', 3)
    service.app.usage.count('a', '', 'messages_out', 2)
    await clock.advance(29_999)
    assert.deepEqual(await ask(), first)
    await clock.advance(1)
    assert.deepEqual(await ask(), {
      ...first,
      tenants_total: 1,
      messages_in_total: 3,
      messages_out_total: 2,
      last_updated: new Date(clock.now()).toISOString(),
    })
  })

  test('answer the preflight for any origin, or only for those configured', async () => {
    const preflight = (service: Service, origin: string) =>
      service.request('OPTIONS', '/api/public/stats', {
        token: null,
        headers: { origin, 'access-control-request-method': 'GET' },
      })
    await using open = await Service.start({ environment: enabled })
    const { status, headers } = await preflight(open, 'https://any.example')
    assert.equal(status, 204)
    assert.equal(headers.get('access-control-allow-origin'), '*')
    assert.equal(headers.get('access-control-allow-methods'), 'GET, OPTIONS')

    await using closed = await Service.start({
      environment: { ...enabled, PUBLIC_STATS_ALLOW_ORIGIN: 'https://one.example, https://two.example' },
    })
    const allowed = await preflight(closed, 'https://two.example')
    assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://two.example')
    assert.match(allowed.headers.get('vary') ?? '', /Origin/)
    assert.equal((await preflight(closed, 'https://three.example')).headers.get('access-control-allow-origin'), null)
    const read = await closed.get('/api/public/stats', { origin: 'https://one.example' })
    assert.equal(read.headers.get('access-control-allow-origin'), 'https://one.example')
  })
})
