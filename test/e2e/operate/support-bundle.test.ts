// The support bundle, the warnings, the settings and the destinations hold what an operator needs, and nothing that must not
// leave the service: the test plants secrets, a customer and texts, and searches for them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { leaksIn } from '../../harness/leak-search.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Bundle = Record<string, unknown> & {
  versions: Record<string, string>
  settings: { name: string; value: string; secret: boolean }[]
  overview: { instances: { name: string; phone?: string }[] }
  health: { instances: { name: string; jid?: string }[]; status: string }
  warnings: { message: string; details: Record<string, unknown> }[]
  audit: { action: string; target: string }[]
  states: { instance: string; states: { state: string }[] }[]
  metrics: string
}

const parts = [
  'made_at',
  'versions',
  'platform',
  'settings',
  'health',
  'overview',
  'metrics',
  'warnings',
  'jobs',
  'states',
  'audit',
  'setup',
]

const planted = {
  lifecycleSecret: 'planted-lifecycle-secret',
  encryptionKey: Buffer.alloc(32, 'planted-key').toString('base64'),
  tenantToken: 'planted-tenant-token',
  tenantSecret: 'planted-tenant-secret',
  proxyPassword: 'planted-proxy-password',
  databasePassword: 'planted-database-password',
  collectorKey: 'planted-collector-key',
  ignoredNumber: '5511966660013',
  customerPhone: '5511977770042',
  customerLid: '200000000009942',
  customerName: 'Zoraide Plantada',
  customerText: 'a planted question about shoes',
  agentText: 'a planted answer about shoes',
  groupSubject: 'Planted group of shoes',
  loggedToken: 'planted-logged-token',
  subscriberPassword: 'planted-subscriber-password',
  subscriberToken: 'planted-subscriber-token',
  numberAsName: '5511955550077',
  otherNumberAsName: '5511944440077',
  spacedNumber: '+55 11 97777-0042',
  telephone: '+55 11 4004-0001',
}

async function bundleOf(service: Service): Promise<{ text: string; bundle: Bundle }> {
  const { status, text, body } = await service.get('/api/support-bundle')
  assert.equal(status, 200, text)
  return { text, bundle: body as Bundle }
}

/** A world in which all of it was planted and messages went both ways. */
async function setUp(engine: 'sqlite' | 'postgres') {
  const world = await AgentWorld.open({
    engine,
    environment: {
      SERVICE_LIFECYCLE_SECRET: planted.lifecycleSecret,
      SERVICE_ENCRYPTION_KEY: planted.encryptionKey,
      SERVICE_IGNORE_JIDS: `${planted.ignoredNumber}@s.whatsapp.net`,
      SERVICE_REJECT_CALLS_TEXT: `please call ${planted.telephone}`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${planted.collectorKey}`,
      DOWNSTREAM_DB_URL: `postgres://desk:${planted.databasePassword}@127.0.0.1:9/desk`,
    },
  })
  const { service, network } = world
  const body = {
    downstream_base_url: 'http://127.0.0.1:9',
    downstream_api_token: planted.tenantToken,
    downstream_account_id: 1,
    downstream_inbox_id: 1,
    webhook_hmac_secret: planted.tenantSecret,
  }
  await service.request('PUT', '/api/tenants/acme', { body })
  const proxy = `http://user:${planted.proxyPassword}@127.0.0.1:9`
  await world.create({ name: 'away', owner_tag: 'acme', network_proxy: proxy })
  // Operators name instances after their numbers, and subscribers have addresses with passwords and tokens.
  const subscriber = `http://hook:${planted.subscriberPassword}@127.0.0.1:9/hook?token=${planted.subscriberToken}`
  for (const name of [planted.numberAsName, planted.otherNumberAsName]) {
    await world.create({ name, owner_tag: name, events_webhook_url: subscriber })
  }
  const customer = network.person({
    phone: planted.customerPhone,
    lid: planted.customerLid,
    pushName: planted.customerName,
  })
  await world.arrived(customer.text(world.phone, planted.customerText))
  await world.write(planted.agentText)
  await world.received(planted.agentText)
  const group = { name: planted.groupSubject, participants: [planted.customerPhone] }
  await service.request('POST', '/api/instances/n0/groups', { body: group })
  await service.request('POST', '/api/tenants/acme/test')
  await service.get('/api/instances/away/check')
  // What a part of the service could write by mistake.
  const err = new Error(`no answer for ${planted.customerPhone}@s.whatsapp.net`)
  service.logs.log.warn({ err, instance: 'n0', token: planted.loggedToken, jid: planted.customerLid }, 'planted')
  service.logs.log.error({ instance: planted.numberAsName, reason: `${planted.spacedNumber} is away` }, 'planted twice')
  const { api_token: downstreamToken, webhook_secret: webhookSecret } = world.helpdesk.facts
  const secrets = { ...planted, downstreamToken, webhookSecret, ownPhone: world.phone.user.phone }
  return { world, customer, secrets, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`what leaves the service for the eyes of others (${engine})`, { concurrency: 2 }, () => {
    test('has no secret, no message text and no name or number of a customer', async () => {
      await using stage = await setUp(engine)
      const { world, customer, secrets } = stage
      // A held destination, with messages that wait.
      world.helpdesk.world.suspendAccount(true)
      customer.text(world.phone, planted.customerText)
      await waitUntil('the destination is held', async () => (await world.health()).checks.destinations_held.length > 0)
      for (const path of ['/api/support-bundle', '/api/warnings', '/api/settings', '/api/destinations']) {
        const { status, text } = await world.service.get(path)
        assert.equal(status, 200, text)
        // Pages link to instances, so the other routes give their whole names.
        const isName = (leak: string) => path !== '/api/support-bundle' && leak.endsWith('AsName')
        assert.deepEqual(
          leaksIn(text, secrets).filter((leak) => !isName(leak)),
          [],
          path,
        )
        assert.ok(text.length > 20, path)
      }
    })

    test('has what is needed to find a fault', async () => {
      await using stage = await setUp(engine)
      const { world } = stage
      const { bundle } = await bundleOf(world.service)
      assert.deepEqual(Object.keys(bundle).sort(), parts.toSorted())
      assert.deepEqual(
        Object.entries(bundle).filter(([, part]) => typeof part === 'object' && part !== null && 'error' in part),
        [],
      )
      const { versions, settings, health, overview, warnings, audit, states, metrics } = bundle
      assert.equal(versions['node'], process.version)
      assert.match(versions[engine] ?? '', /^\d+\.\d+/)
      assert.match(versions['client'] ?? '', /^\d+\.\d+\.\d+$/)
      assert.deepEqual(
        settings.find(({ name }) => name === 'SERVICE_LIFECYCLE_SECRET'),
        { name: 'SERVICE_LIFECYCLE_SECRET', value: 'set', default: '', secret: true },
      )
      assert.deepEqual(overview.instances.map(({ name }) => name).sort(), ['away', 'n0', '…77', '…77'])
      assert.ok(overview.instances.every((row) => !('phone' in row)))
      assert.ok(health.instances.every((row) => !('jid' in row)))
      const line = warnings.find(({ message }) => message === 'planted')
      assert.equal(line?.details['jid'], '…42')
      assert.equal(line.details['token'], '[redacted]')
      assert.match(JSON.stringify(line.details['err']), /no answer for …42@s\.whatsapp\.net/)
      assert.ok(audit.some(({ action, target }) => action === 'group.create' && /^…\d\d@g\.us$/.test(target)))
      assert.equal(states.length, 4)
      assert.equal(states.find(({ instance }) => instance === 'n0')?.states.at(-1)?.state, 'ready')
      assert.match(metrics, /^service_total_instances 4$/m)
      assert.match(metrics, /instance="…77"/)
    })
  })

  test(`a part that cannot be read does not keep the others back (${engine})`, async () => {
    await using service = await Service.start({ engine })
    await service.database.write({ sql: 'ALTER TABLE jobs RENAME TO jobs_away', parameters: [] })
    const { bundle } = await bundleOf(service)
    assert.deepEqual(bundle['jobs'], { error: 'this part could not be read: the log says why' })
    assert.equal(bundle.audit[0]?.action, 'backend.boot')
    assert.equal(service.logs.withMessage('a part of the support bundle could not be read').length, 1)
  })
}

test('the bundle is a file with a name, and needs the token', async () => {
  await using service = await Service.start()
  const { headers } = await service.get('/api/support-bundle')
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="causeway-support-[\dTZ-]+\.json"$/)
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  for (const path of ['/api/support-bundle', '/api/warnings', '/api/settings', '/api/destinations']) {
    assertRefused(await service.request('GET', path, { token: null }), 'SERVICE_UNAUTHORIZED')
  }
})
