import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertOnceInOrder, people } from '../../harness/chats.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { InboundStage } from '../../harness/inbound-stage.ts'
import { waitUntil } from '../../harness/wait-until.ts'

test('a wrong token, a deleted inbox and a helpdesk that is away: held and named, nothing parked, others go on', async () => {
  const clock = new FastClock(20)
  await using stage = await InboundStage.open({ clock, accounts: 2, helpdesk: { clock } })
  const { helpdesk, service } = stage
  const second = helpdesk.world.addInbox({ name: 'second' })
  const { facts } = helpdesk
  const tenant = {
    downstream_base_url: facts.url,
    downstream_api_token: facts.api_token,
    downstream_inbox_id: second.id,
  }
  await service.request('PUT', '/api/tenants/acme', { body: tenant })
  await service.request('PATCH', '/api/instances/n1', { body: { owner_tag: 'acme' } })
  const [maria] = people(stage, 1)
  const other = stage.phones[1]
  assert.ok(maria && other)
  let sent = 0
  const troubles = ['wrong_token', 'inbox_deleted', 'refused'] as const
  for (const kind of troubles) {
    await helpdesk.fault(kind === 'inbox_deleted' ? { kind, inboxId: facts.inbox_id } : { kind })
    maria.text(stage.phone, `p0 ${sent++}`)
    maria.text(stage.phone, `p0 ${sent++}`)
    const last = maria.text(stage.phone, `p0 ${sent++}`)
    await waitUntil(`${kind}: the destination is held`, async () => {
      const { status, checks } = await stage.health()
      return status === 'degraded' && checks.destinations_held.length > 0
    })
    const health = await stage.health()
    assert.ok(health.checks.inbox_pending >= 3)
    if (kind === 'inbox_deleted') {
      const before = helpdesk.messages().length
      const elsewhere = maria.text(other, 'to the other tenant')
      await stage.arrived(elsewhere)
      assert.equal(helpdesk.messages().length, before + 1)
    }
    await helpdesk.clearFaults()
    await stage.arrived(last)
    await stage.drained()
    assert.equal((await stage.health()).status, 'ok')
    assert.equal((await stage.health()).checks.inbox_parked, 0)
  }
  const texts = helpdesk.messages().filter(({ inboxId }) => inboxId === facts.inbox_id)
  assert.deepEqual(
    texts.map(({ content }) => content),
    Array.from({ length: sent }, (_, index) => `p0 ${index}`),
  )
})

test('the flood limit only slows a chat down', async () => {
  const clock = new FastClock(20)
  await using stage = await InboundStage.open({ clock, helpdesk: { clock, messagesPerMinute: 10 } })
  const [maria] = people(stage, 1)
  assert.ok(maria)
  for (let index = 0; index < 25; index++) maria.text(stage.phone, `p0 ${index}`)
  await waitUntil('all are there', () => stage.helpdesk.messages().length >= 25, { timeoutMs: 60_000 })
  await stage.drained()
  assertOnceInOrder(stage, 1, 25)
  assert.equal((await stage.health()).checks.inbox_parked, 0)
})

test('without a configured helpdesk messages wait, and arrive when a tenant appears', async () => {
  await using stage = await InboundStage.open({
    environment: { DOWNSTREAM_BASE_URL: '', DOWNSTREAM_API_TOKEN: '', DOWNSTREAM_INBOX_ID: '0' },
  })
  const { facts } = stage.helpdesk
  const [maria] = people(stage, 1)
  const sent = maria?.text(stage.phone, 'p0 0')
  assert.ok(sent)
  await waitUntil('it waits', async () => (await stage.health()).checks.inbox_pending === 1)
  const body = {
    downstream_base_url: facts.url,
    downstream_api_token: facts.api_token,
    downstream_inbox_id: facts.inbox_id,
  }
  await stage.service.request('PUT', '/api/tenants/acme', { body })
  await stage.service.request('PATCH', '/api/instances/n0', { body: { owner_tag: 'acme' } })
  await stage.arrived(sent)
  await stage.drained()
})
