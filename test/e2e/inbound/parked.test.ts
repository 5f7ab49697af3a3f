import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { World } from '../../harness/world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Parked = { instance: string; parked: { id: string; kind: string; attempts: number; error: string }[] }

test('what the helpdesk will never take is parked: listed, retried, dropped', async () => {
  await using world = await World.open()
  const { helpdesk, service } = world
  const maria = world.network.person({ phone: '5511988887777' })
  await world.arrived(maria.text(world.phone, 'fine'))
  await helpdesk.fault({ kind: 'status', status: 400, method: 'POST', path: /\/messages$/, times: 4 })
  const first = maria.text(world.phone, 'one')
  maria.text(world.phone, 'two')
  const list = async () => (await service.get('/api/instances/n0/parked')).body as Parked
  await waitUntil('both are parked', async () => (await list()).parked.length === 2)
  const { instance, parked } = await list()
  assert.equal(instance, 'n0')
  assert.deepEqual(
    parked.map(({ kind, attempts }) => [kind, attempts]),
    [
      ['message', 2],
      ['message', 2],
    ],
  )
  assert.match(parked[0]?.error ?? '', /400/)
  const health = await world.health()
  assert.deepEqual([health.status, health.checks.inbox_parked], ['degraded', 2])
  assert.match((await service.get('/metrics')).text, /service_inbox_parked 2/)

  const dropped = await service.request('DELETE', `/api/instances/n0/parked/${parked[1]?.id ?? ''}`)
  assert.deepEqual([dropped.status, dropped.body], [200, { message: 'deleted' }])
  const again = await service.request('DELETE', `/api/instances/n0/parked/${parked[1]?.id ?? ''}`)
  assertRefused(again, 'SERVICE_PARKED_NOT_FOUND', /no parked message/)

  const retried = await service.request('POST', '/api/instances/n0/parked/retry')
  assert.deepEqual([retried.status, retried.body], [200, { instance: 'n0', retried: 1 }])
  assert.equal((await world.arrived(first)).content, 'one')
  await world.drained()
  assert.equal((await world.health()).status, 'ok')
})

test('parked routes refuse unknown names and strange ids', async () => {
  await using world = await World.open()
  const { service } = world
  assertRefused(await service.get('/api/instances/nobody/parked'), 'SERVICE_INSTANCE_NOT_FOUND')
  assertRefused(await service.request('POST', '/api/instances/nobody/parked/retry'), 'SERVICE_INSTANCE_NOT_FOUND')
  assertRefused(await service.request('DELETE', '/api/instances/n0/parked/..%2f'), 'SERVICE_BAD_REQUEST')
  assertRefused(await service.request('DELETE', '/api/instances/n0/parked/abc'), 'SERVICE_PARKED_NOT_FOUND')
  assertRefused(await service.request('GET', '/api/instances/n0/parked', { token: null }), 'SERVICE_UNAUTHORIZED')
})

test('a deleted instance leaves nothing behind, and the audit log tells what was not delivered', async () => {
  await using world = await World.open()
  const { helpdesk, service } = world
  const maria = world.network.person({ phone: '5511988887777' })
  await world.arrived(maria.text(world.phone, 'delivered'))
  await world.drained()
  await helpdesk.fault({ kind: 'wrong_token' })
  maria.text(world.phone, 'one')
  maria.text(world.phone, 'two')
  await waitUntil('both wait', async () => (await world.health()).checks.inbox_pending === 2)
  assert.equal((await service.request('DELETE', '/api/instances/n0')).status, 200)
  const { database } = service
  for (const table of ['inbox', 'people', 'conversations', 'message_map'] as const) {
    assert.deepEqual(await database.read(database.query.selectFrom(table).select('instance')), [], table)
  }
  const { body } = await service.get('/api/audit?instance=n0')
  const [entry] = (body as { entries: { action: string; metadata: { undelivered: number } }[] }).entries
  assert.deepEqual([entry?.action, entry?.metadata.undelivered], ['instance.delete', 2])
  assert.equal((await world.health()).checks.inbox_pending, 0)
  assert.doesNotMatch((await service.get('/metrics')).text, /instance="n0"/)
})

test('usage counts what the helpdesk took; the log tells of each message without its words or numbers', async () => {
  await using world = await World.open()
  const maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
  await world.arrived(maria.text(world.phone, 'canary words'))
  await world.arrived(world.phone.text(maria, 'canary answer'))
  await world.drained()
  let counted: number | undefined
  const areCounted = async () => {
    const { body } = await world.service.get('/api/usage')
    counted = (body as { rows: { messages_in: number }[] }).rows[0]?.messages_in
    return counted === 2
  }
  // A node that does not hold the instance knows some seconds later.
  await waitUntil('both are counted', areCounted, { instead: () => counted })
  const lines = world.service.logs.withMessage('message from the network handled')
  assert.equal(lines.length, 2)
  const shown = world.service.logs.lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 30).join('')
  assert.ok(!shown.includes('canary'))
  assert.ok(!shown.includes('5511988887777'))
})
