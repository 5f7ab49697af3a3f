import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertOnceInOrder, people } from '../../harness/chats.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { noDestination, tenantSettings } from '../../harness/destination.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { World } from '../../harness/world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

test('a wrong token, a deleted inbox and a helpdesk that is away: held and named, nothing parked, others go on', async () => {
  const clock = new FastClock(20)
  await using world = await World.open({ clock, accounts: 2, helpdesk: { clock } })
  const { helpdesk, service } = world
  const second = helpdesk.world.addInbox({ name: 'second' })
  const { facts } = helpdesk
  await service.request('PUT', '/api/tenants/acme', { body: tenantSettings(helpdesk, second.id) })
  await service.request('PATCH', '/api/instances/n1', { body: { owner_tag: 'acme' } })
  const [maria] = people(world, 1)
  const other = world.phones[1]
  assert.ok(maria && other)
  let sent = 0
  const troubles = ['wrong_token', 'inbox_deleted', 'refused'] as const
  for (const kind of troubles) {
    await helpdesk.fault(kind === 'inbox_deleted' ? { kind, inboxId: facts.inbox_id } : { kind })
    maria.text(world.phone, `p0 ${sent++}`)
    maria.text(world.phone, `p0 ${sent++}`)
    const last = maria.text(world.phone, `p0 ${sent++}`)
    await waitUntil(`${kind}: the destination is held`, async () => {
      const { status, checks } = await world.health()
      return status === 'degraded' && checks.destinations_held.length > 0 && checks.inbox_pending >= 3
    })
    if (kind === 'inbox_deleted') {
      const before = helpdesk.messages().length
      const elsewhere = maria.text(other, 'to the other tenant')
      await world.arrived(elsewhere)
      assert.equal(helpdesk.messages().length, before + 1)
    }
    await helpdesk.clearFaults()
    await world.arrived(last)
    await world.drained()
    assert.equal((await world.health()).status, 'ok')
    assert.equal((await world.health()).checks.inbox_parked, 0)
  }
  const texts = helpdesk.messages().filter(({ inboxId }) => inboxId === facts.inbox_id)
  assert.deepEqual(
    texts.map(({ content }) => content),
    Array.from({ length: sent }, (_, index) => `p0 ${index}`),
  )
})

test('the flood limit only slows a chat down', async () => {
  const clock = new FastClock(20)
  await using world = await World.open({ clock, helpdesk: { clock, messagesPerMinute: 10 } })
  const [maria] = people(world, 1)
  assert.ok(maria)
  for (let index = 0; index < 15; index++) maria.text(world.phone, `p0 ${index}`)
  await waitUntil('all are there', () => world.helpdesk.messages().length >= 15)
  await world.drained()
  assertOnceInOrder(world, 1, 15)
  assert.equal((await world.health()).checks.inbox_parked, 0)
})

test('without a configured helpdesk messages wait, and arrive when a tenant appears', async () => {
  await using world = await World.open({ environment: noDestination })
  const [maria] = people(world, 1)
  const sent = maria?.text(world.phone, 'p0 0')
  assert.ok(sent)
  await waitUntil('it waits', async () => (await world.health()).checks.inbox_pending === 1)
  await world.service.request('PUT', '/api/tenants/acme', { body: tenantSettings(world.helpdesk) })
  await world.service.request('PATCH', '/api/instances/n0', { body: { owner_tag: 'acme' } })
  await world.arrived(sent)
  await world.drained()
})

for (const engine of drawnEngines(import.meta.url)) {
  test(`characters that Chatwoot refuses do not hold back a message, on ${engine}`, async () => {
    await using world = await World.open({ engine })
    const maria = world.network.person({ phone: '5511988887777', pushName: 'Ma\u0000ria' })
    const { content } = await world.arrived(maria.text(world.phone, 'a\u0000b \uD83D end'))
    assert.match(content ?? '', /^ab \uFFFD+ end$/)
    await world.drained()
  })
}

test('an address of the right contact that Chatwoot is still creating is tried again, and one conversation is opened', async () => {
  await using world = await World.open()
  const [maria] = people(world, 1)
  assert.ok(maria)
  const body = { error: 'source_id should be unique' }
  await world.helpdesk.fault({ kind: 'answer', status: 422, body, method: 'POST', path: /conversations$/, times: 3 })
  for (let index = 0; index < 3; index++) maria.text(world.phone, `p0 ${index}`)
  await waitUntil('all are there', () => world.helpdesk.messages().length >= 3)
  await world.drained()
  assertOnceInOrder(world, 1, 3)
  assert.equal(world.helpdesk.see.conversations().length, 1)
})
