// The access to a helpdesk is tested before and after it is stored, and nothing is stored or changed by the test.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { noDestination, tenantSettings } from '../../harness/destination.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import type { Answer } from '../../harness/http-request.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { checkOf, unhappy } from '../../harness/setup-report.ts'
import type { SetupReport } from '../../harness/setup-report.ts'
import { World } from '../../harness/world.ts'
import type { WorldOptions } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'

type Report = SetupReport & { inboxes: { id: number; name: string; used_by: string[] }[] }

async function setUp(options: WorldOptions = {}) {
  const world = await World.unlinked(options)
  const ask = (body?: unknown): Promise<Answer> =>
    world.service.request('POST', '/api/destinations/test', body === undefined ? {} : { body })
  const report = async (answer: Promise<Answer>): Promise<Report> => {
    const { status, text, body } = await answer
    assert.equal(status, 200, text)
    return body as Report
  }
  const { url, api_token: token } = world.helpdesk.facts
  const access = { downstream_base_url: url, downstream_api_token: token }
  return { world, ask, report, access, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`the test of a helpdesk (${engine})`, { concurrency: 3 }, () => {
    test('of a right access passes, and lists the API inboxes with the instances that use them', async () => {
      await using stage = await setUp({ engine, environment: noDestination })
      const { world, ask, report, access } = stage
      world.helpdesk.world.addInbox({ name: 'Site', channelType: 'Channel::WebWidget' })
      await world.service.request('PUT', '/api/tenants/acme', { body: tenantSettings(world.helpdesk) })
      await world.create({ name: 'shop', owner_tag: 'acme' })
      const before = (await world.service.get('/api/tenants')).body
      const found = await report(ask(access))
      assert.ok(found.ok, JSON.stringify(found))
      assert.deepEqual(
        found.checks.map(({ name }) => name),
        ['helpdesk_reachable', 'clock', 'token', 'account', 'role'],
      )
      assert.deepEqual(
        found.inboxes.map(({ id, used_by }) => [id, used_by]),
        [[1, ['shop']]],
      )
      assert.deepEqual((await world.service.get('/api/tenants')).body, before)
    })

    test('names what is wrong, with its cure', async () => {
      await using stage = await setUp({ engine })
      const { world, ask, report, access } = stage
      const away = await report(ask({ ...access, downstream_base_url: 'http://127.0.0.1:9' }))
      assert.deepEqual([away.ok, unhappy(away), away.inboxes], [false, ['helpdesk_reachable'], []])
      const stranger = await report(ask({ ...access, downstream_api_token: 'no such token' }))
      assert.deepEqual([stranger.ok, unhappy(stranger)], [false, ['token']])
      assert.match(checkOf(stranger, 'token').cure ?? '', /access token of an administrator/)
      const other = await report(ask({ ...access, downstream_account_id: 77 }))
      assert.deepEqual([other.ok, unhappy(other)], [false, ['account']])
      const agent = world.helpdesk.world.addAgent({ name: 'Ana', role: 'agent', inboxIds: [1] })
      const limited = await report(ask({ ...access, downstream_api_token: agent.token }))
      assert.deepEqual([limited.ok, unhappy(limited)], [true, ['role']])
      world.helpdesk.world.suspendAccount(true)
      assert.deepEqual(unhappy(await report(ask(access))), ['account'])
    })

    test('never reaches an address at which no helpdesk may be', async () => {
      await using stage = await setUp({ engine })
      const { ask, report } = stage
      const body = { downstream_base_url: 'http://169.254.169.254/latest', downstream_api_token: 'x' }
      const found = await report(ask(body))
      assert.deepEqual([found.ok, unhappy(found)], [false, ['helpdesk_reachable']])
    })

    test('without a body is about the settings, and looks at their inbox too', async () => {
      await using stage = await setUp({ engine })
      const { world, ask, report } = stage
      const found = await report(ask())
      assert.ok(found.ok)
      assert.equal(checkOf(found, 'api_inbox').result, 'ok')
      assert.deepEqual(await report(ask({})), await report(ask({ downstream_base_url: null })))
      await new DeskClient(world.helpdesk).delete('/inboxes/1')
      await world.helpdesk.settled()
      assert.deepEqual(unhappy(await report(ask())), ['api_inbox'])
    })

    test('of a tenant uses what is stored; a tenant that does not exist is 404', async () => {
      await using stage = await setUp({ engine, environment: noDestination })
      const { world, report } = stage
      const testTenant = (tag: string) => world.service.request('POST', `/api/tenants/${tag}/test`)
      assertRefused(await testTenant('acme'), 'SERVICE_TENANT_NOT_FOUND', /acme/)
      const body = tenantSettings(world.helpdesk)
      await world.service.request('PUT', '/api/tenants/acme', { body })
      const right = await report(testTenant('acme'))
      assert.ok(right.ok, JSON.stringify(right))
      assert.equal(checkOf(right, 'api_inbox').result, 'ok')
      await world.service.request('PATCH', '/api/tenants/acme', { body: { downstream_inbox_id: 99 } })
      const wrong = await report(testTenant('acme'))
      assert.deepEqual(unhappy(wrong), ['api_inbox'])
      assert.match(checkOf(wrong, 'api_inbox').cure ?? '', /downstream_inbox_id of the tenant/)
    })

    test('does not send the token of the settings to an address that the caller names', async () => {
      await using stage = await setUp({ engine })
      const { ask, access } = stage
      const answer = await ask({ downstream_base_url: access.downstream_base_url })
      assertRefused(answer, 'SERVICE_BAD_REQUEST', /needs downstream_api_token/)
    })

    test('refuses what it cannot read, and says why', async () => {
      await using stage = await setUp({ engine, environment: noDestination })
      const { ask, access } = stage
      assertRefused(await ask(), 'SERVICE_NO_HELPDESK', /send downstream_base_url/)
      assertRefused(await ask({ ...access, base_url: 'x' }), 'SERVICE_BAD_REQUEST', /unknown field "base_url"/)
      const bad: [object, RegExp][] = [
        [{ downstream_base_url: 'ftp://desk' }, /http:\/\/ or https:\/\//],
        [{ downstream_base_url: 'https://user:canary@desk' }, /user name or password/],
        [{ downstream_base_url: 7 }, /downstream_base_url must be string/],
        [{ downstream_base_url: `https://desk/${'x'.repeat(3000)}` }, /downstream_base_url/],
        [{ downstream_api_token: 'a\nb' }, /printable ASCII/],
        [{ downstream_api_token: 'a–b' }, /printable ASCII/],
        [{ downstream_account_id: '1' }, /downstream_account_id must be integer/],
        [{ downstream_account_id: 0 }, /downstream_account_id must be >= 1/],
      ]
      for (const [change, sentence] of bad) {
        const answer = await ask({ ...access, ...change })
        assertRefused(answer, 'SERVICE_BAD_REQUEST', sentence)
        assert.doesNotMatch(answer.text, /canary/)
      }
      assertRefused(await ask([]), 'SERVICE_BAD_REQUEST')
    })

    test('is made ten times a minute at most, those of tenants included', async () => {
      const clock = new ManualClock()
      await using stage = await setUp({ engine, clock, environment: noDestination })
      const { world, ask, access } = stage
      await world.service.request('PUT', '/api/tenants/acme', { body: tenantSettings(world.helpdesk) })
      const testTenant = () => world.service.request('POST', '/api/tenants/acme/test')
      for (let n = 0; n < 5; n++) {
        assert.equal((await ask(access)).status, 200)
        assert.equal((await testTenant()).status, 200)
      }
      const refused = await ask(access)
      assertRefused(refused, 'SERVICE_RATE_LIMITED', /at most 10/)
      assert.equal(refused.headers.get('retry-after'), '60')
      assertRefused(await testTenant(), 'SERVICE_RATE_LIMITED')
      await clock.advance(60_000)
      assert.equal((await testTenant()).status, 200)
    })
  })
}
