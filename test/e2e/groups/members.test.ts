// Members of a group: every person has a result of their own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../../harness/world.ts'
import { GroupWorld } from './harness/group-world.ts'

const open = async () => new GroupWorld(await World.open())

test('people are added, promoted, demoted and removed, and each has a result', async () => {
  await using set = await open()
  const { world, bob, eve } = set
  const group = set.ownGroup()
  const change = async (action: string, ...jids: string[]) => {
    const { status, body, text } = await set.post(`/${group.jid}/participants`, { action, jids })
    assert.equal(status, 200, text)
    const { jid, action: done, ...rest } = body as Record<string, unknown>
    assert.deepEqual([jid, done], [group.jid, action])
    return rest
  }
  const eves = '5511888880002@s.whatsapp.net'
  assert.deepEqual(await change('add', '+55 11 88888-0002', '5511888880001', '5511777770000', eves), {
    count: 1,
    results: [
      { jid: eves, status: 'ok' },
      { jid: '5511888880001@s.whatsapp.net', status: 'failed', code: '409' },
      { jid: '5511777770000@s.whatsapp.net', status: 'failed', code: '404' },
    ],
  })
  assert.deepEqual(await change('promote', '200000000000002@lid'), {
    count: 1,
    results: [{ jid: '200000000000002@lid', status: 'ok' }],
  })
  assert.equal(group.roles.get(eve.user), 'admin')
  await change('demote', eves)
  assert.equal(group.roles.get(eve.user), 'member')
  await change('remove', eves, '5511888880001')
  assert.deepEqual([group.roles.has(eve.user), group.roles.has(bob.user)], [false, false])
  assert.deepEqual(await change('remove', eves), {
    count: 0,
    results: [{ jid: eves, status: 'failed', code: '404' }],
  })
  const entry = (metadata: object) => ({ action: 'group.participants', instance: 'n0', target: group.jid, metadata })
  assert.deepEqual((await set.audit()).slice(0, 2), [
    entry({ action: 'add', ok: 1, failed: 2, invited: 0 }),
    entry({ action: 'promote', ok: 1, failed: 0, invited: 0 }),
  ])
  assert.doesNotMatch(JSON.stringify(await set.audit()), /88888000/)
  assert.equal(world.network.groups.of(world.phone.user).length, 1)
})

test('a number of Brazil is found in both of its spellings', async () => {
  await using set = await open()
  const { world } = set
  const lea = world.network.person({ phone: '551188880004' })
  const tom = world.network.person({ phone: '5511988880005' })
  const created = await set.post('', { name: 'New', participants: ['+55 11 98888-0004'] })
  const { jid, participants } = created.body as { jid: string; participants: unknown }
  assert.deepEqual(participants, [{ jid: '5511988880004@s.whatsapp.net', status: 'ok' }])
  const { body } = await set.post(`/${jid}/participants`, { action: 'add', jids: ['551188880005'] })
  assert.deepEqual((body as { results: unknown }).results, [{ jid: '551188880005@s.whatsapp.net', status: 'ok' }])
  const { roles } = world.network.groups.get(jid)
  assert.deepEqual([roles.get(lea.user), roles.get(tom.user)], ['member', 'member'])
})

test('requests to join are listed and decided', async () => {
  await using set = await open()
  const { world, bob, eve } = set
  const group = set.ownGroup()
  const mia = world.network.person({ phone: '5511888880003', lid: '200000000000003' })
  group.setApproval(world.phone.user, true)
  for (const { user } of [eve, mia]) group.join(user)
  const path = `/${group.jid}/requests`
  const listed = await set.get(path)
  assert.equal(listed.status, 200, listed.text)
  const requests = listed.body as { jid: string; requested_at: string }[]
  assert.deepEqual(
    requests.map(({ jid }) => jid),
    ['5511888880002@s.whatsapp.net', '5511888880003@s.whatsapp.net'],
  )
  assert.match(requests[0]?.requested_at ?? '', /^\d{4}-\d\d-\d\dT.*Z$/)
  const approved = await set.post(path, { action: 'approve', jids: ['5511888880002', bob.user.pnJid] })
  assert.equal(approved.status, 200, approved.text)
  assert.deepEqual(approved.body, {
    jid: group.jid,
    action: 'approve',
    count: 1,
    results: [
      { jid: '5511888880002@s.whatsapp.net', status: 'ok' },
      { jid: '5511888880001@s.whatsapp.net', status: 'failed', code: '404' },
    ],
  })
  assert.deepEqual((await set.post(path, { action: 'reject', jids: ['200000000000003@lid'] })).body, {
    jid: group.jid,
    action: 'reject',
    count: 1,
    results: [{ jid: '200000000000003@lid', status: 'ok' }],
  })
  assert.deepEqual([group.roles.has(eve.user), group.roles.has(mia.user)], [true, false])
  assert.deepEqual((await set.get(path)).body, [])
  const actions = (await set.audit()).map(({ action, metadata }) => [action, metadata['action'], metadata['ok']])
  assert.deepEqual(actions, [
    ['group.requests', 'approve', 1],
    ['group.requests', 'reject', 1],
  ])
})

test('a group of 1,024 members is created and shown, and a change of as many people has as many results', async () => {
  await using set = await open()
  const { world } = set
  const phones = Array.from({ length: 1023 }, (_, n) => `55116${String(n).padStart(8, '0')}`)
  // Only their accounts: a thousand phones with keys would keep this process busy, and the service would refuse requests.
  for (const phone of phones) world.network.directory.register(phone, undefined, 'Member')
  const created = await set.post('', { name: 'Crowd', participants: phones })
  assert.equal(created.status, 201, created.text)
  const { jid, participants: results } = created.body as { jid: string; participants: { status: string }[] }
  assert.deepEqual([results.length, results.every(({ status }) => status === 'ok')], [1023, true])
  const shown = await set.get(`/${jid}`)
  assert.equal(shown.status, 200, shown.text)
  const { participants } = shown.body as { participants: { role: string }[] }
  assert.deepEqual([participants.length, participants.filter(({ role }) => role !== 'member').length], [1024, 1])
  const added = await set.post(`/${jid}/participants`, { action: 'add', jids: [...phones, '5511888880001'] })
  assert.equal(added.status, 200, added.text)
  const { count, results: refusals } = added.body as { count: number; results: { jid: string; code: string }[] }
  assert.deepEqual([count, refusals.length], [0, 1024])
  assert.deepEqual(Map.groupBy(refusals, ({ code }) => code).get('419'), [
    { jid: '5511888880001@s.whatsapp.net', status: 'failed', code: '419' },
  ])
})
