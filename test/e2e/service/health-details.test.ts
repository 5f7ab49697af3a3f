// Who sees names in GET /api/health.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TSchema } from 'typebox'
import { Health, withoutNames } from '../../../src/http/routes/health-schema.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { DashboardVisitor } from '../../harness/dashboard-visitor.ts'
import { requestFrom } from '../../harness/http-request.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { apiToken, Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Shown = {
  status: string
  reduced?: boolean
  instances: { name: string }[]
  checks: Record<string, unknown>
}

const withInstance = {
  seed: async (database: Service['database']) => {
    await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('secret-shop')))
  },
}
const behindToken = { SERVICE_HEALTH_DETAILS: 'token' }

/** Without a token unless the test gives one. */
async function ask(service: Service, headers: Record<string, string> = {}) {
  const { status, body, headers: answered } = await service.request('GET', '/api/health', { token: null, headers })
  return { status, shown: body as Shown, cache: answered.get('cache-control') }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

test('everybody sees names by default', async () => {
  await using service = await Service.start(withInstance)
  const { shown, cache } = await ask(service)
  assert.deepEqual(
    shown.instances.map(({ name }) => name),
    ['secret-shop'],
  )
  assert.deepEqual([shown.reduced, cache], [undefined, null])
})

describe('with SERVICE_HEALTH_DETAILS=token', () => {
  test('a stranger gets the status and the counts, and no name, number or address of what is wrong', async () => {
    await using world = await AgentWorld.open({ environment: behindToken })
    // A callback is refused, and then the helpdesk takes nothing.
    await world.post(world.callback(1, 'x'), { secret: 'wrong' })
    await world.helpdesk.fault({ kind: 'refused' })
    world.bob.text(world.phone, 'hello')
    await waitUntil('the destination is held', async () => (await world.health()).checks.destinations_held.length > 0)
    const full = (await world.service.get('/api/health')).text
    const { status, shown, cache } = await ask(world.service)
    assert.deepEqual([status, shown.status, shown.reduced, cache], [200, 'degraded', true, 'no-store'])
    assert.deepEqual([shown.checks['instances_total'], shown.checks['inbox_pending']], [1, 1])
    for (const name of ['"n0"', world.phone.user.phone, world.helpdesk.facts.url]) {
      assert.ok(full.includes(name), `${name} is not in the full answer`)
      assert.ok(!JSON.stringify(shown).includes(name), `a stranger sees ${name}`)
    }
  })

  test('a caller with the token or with a session of the dashboard sees everything', async () => {
    await using service = await Service.start({ ...withInstance, environment: behindToken })
    const withToken = await ask(service, bearer(apiToken))
    assert.deepEqual([withToken.shown.instances.length, withToken.cache], [1, 'no-store'])
    const visitor = await DashboardVisitor.signIn(service.url)
    assert.equal(((await visitor.request('GET', '/api/health')).body as Shown).instances.length, 1)
    const elsewhere = { headers: { 'sec-fetch-site': 'same-site' } }
    assert.equal(((await visitor.request('GET', '/api/health', elsewhere)).body as Shown).instances.length, 0)
    await visitor.request('DELETE', '/api/session')
    assert.equal(((await visitor.request('GET', '/api/health')).body as Shown).instances.length, 0)
  })

  test('a wrong token is no error: the probe of a supervisor does not fail when the token changes', async () => {
    await using service = await Service.start({ ...withInstance, environment: behindToken })
    for (const headers of [bearer('old-token'), { authorization: 'Basic eDp5' }, { cookie: 'causeway_session=x' }]) {
      const { status, shown } = await ask(service, headers)
      assert.deepEqual([status, shown.status, shown.reduced, shown.instances], [200, 'ok', true, []])
    }
  })

  test('guessing tokens is limited as on other routes, and health goes on answering', async () => {
    const environment = { ...behindToken, SERVICE_API_RATE_LIMIT: '3' }
    await using service = await Service.start({ ...withInstance, environment })
    const get = (headers: Record<string, string>) =>
      requestFrom(service.url, 'GET', '/api/health', { headers }).then(({ status, body }) => ({
        status,
        count: (body as Shown).instances.length,
      }))
    for (let asked = 0; asked < 10; asked++) assert.deepEqual(await get({}), { status: 200, count: 0 })
    for (const token of ['a', 'b']) assert.deepEqual(await get(bearer(token)), { status: 200, count: 0 })
    assert.deepEqual(await get(bearer(apiToken)), { status: 200, count: 1 })
    assert.deepEqual(await get(bearer(apiToken)), { status: 200, count: 0 }, 'a guesser learns nothing')
    assert.deepEqual(await get({}), { status: 200, count: 0 })
  })

  test('without SERVICE_API_TOKEN every route is open, and health too, but not to the page of another site', async () => {
    await using service = await Service.start({
      ...withInstance,
      environment: { ...behindToken, SERVICE_API_TOKEN: '' },
    })
    assert.equal((await ask(service)).shown.instances.length, 1)
    const { status, shown } = await ask(service, { origin: 'https://other.example', 'sec-fetch-site': 'cross-site' })
    assert.deepEqual([status, shown.reduced, shown.instances], [200, true, []])
  })
})

test('every list of the checks that names something is empty for a stranger', () => {
  const { checks } = Health.properties
  const lists = Object.entries<TSchema>(checks.properties)
    .filter(([, schema]) => (schema as { items?: { type?: string } }).items?.type === 'object')
    .map(([name]) => name)
  assert.ok(lists.length > 3, lists.join())
  const full = { instances: [{}], checks: Object.fromEntries(lists.map((name) => [name, [{}]])) }
  const reduced = withoutNames(full as unknown as Parameters<typeof withoutNames>[0])
  const left = lists.filter((name) => (reduced.checks as unknown as Record<string, unknown[]>)[name]?.length !== 0)
  assert.deepEqual(left, [])
})
