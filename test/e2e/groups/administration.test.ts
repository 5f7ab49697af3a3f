// The group endpoints: what they change on the network, what they answer, and what the audit log keeps of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../../harness/world.ts'
import { GroupWorld } from './harness/group-world.ts'

const open = async () => new GroupWorld(await World.open())

test('the list of groups names the role of the account in each', async () => {
  await using set = await open()
  assert.deepEqual((await set.get('')).body, [])
  const own = set.ownGroup('Team')
  const other = set.bobsGroup('Crew')
  const { status, body } = await set.get('')
  assert.equal(status, 200)
  assert.deepEqual(body, [
    { jid: own.jid, subject: 'Team', size: 2, role: 'superadmin' },
    { jid: other.jid, subject: 'Crew', size: 3, role: 'member' },
  ])
})

test('the details of a group have its settings and its members with roles, phones and names', async () => {
  await using set = await open()
  const { world, bob } = set
  const mia = world.network.person({ phone: '5511888880003', lid: '200000000000003', savedAs: 'Mia Souza' })
  const shy = world.network.person({ phone: '5511888880009', lid: '200000000000009', hidesPhone: true })
  const group = world.network.group('Team', bob, [world.phone, mia, shy])
  group.setDescription(bob.user, 'What we do')
  group.setLocked(bob.user, true)
  group.change(bob.user, 'promote', mia.user)
  // The name that Bob chose becomes known with his message.
  await world.arrived(bob.text(group, 'hello'))
  const { status, body } = await set.get(`/${encodeURIComponent(group.jid)}`)
  assert.equal(status, 200)
  const { participants, ...rest } = body as { participants: { jid: string }[] }
  assert.deepEqual(rest, {
    jid: group.jid,
    subject: 'Team',
    topic: 'What we do',
    owner: '5511888880001@s.whatsapp.net',
    created_at: new Date(Number(group.creation) * 1000).toISOString(),
    is_locked: true,
    is_announce: false,
    is_ephemeral: false,
  })
  const participant = (jid: string) => participants.find((each) => each.jid === jid)
  assert.equal(participants.length, 4)
  assert.deepEqual(participant('5511888880001@s.whatsapp.net'), {
    jid: '5511888880001@s.whatsapp.net',
    lid: '200000000000001@lid',
    phone_number: '+5511888880001',
    name: 'Bob',
    role: 'superadmin',
    is_admin: true,
    is_super_admin: true,
  })
  assert.deepEqual(participant('5511888880003@s.whatsapp.net'), {
    jid: '5511888880003@s.whatsapp.net',
    lid: '200000000000003@lid',
    phone_number: '+5511888880003',
    name: 'Mia Souza',
    role: 'admin',
    is_admin: true,
    is_super_admin: false,
  })
  assert.deepEqual(participant('200000000000009@lid'), {
    jid: '200000000000009@lid',
    lid: '200000000000009@lid',
    role: 'member',
    is_admin: false,
    is_super_admin: false,
  })
})

test('name, description and settings of a group change, and the audit log keeps no text of them', async () => {
  await using set = await open()
  const group = set.ownGroup()
  const at = `/${group.jid}`
  const longest = '👋'.repeat(100)
  const steps = [
    ['/name', { name: longest }],
    ['/topic', { topic: 'What we do' }],
    ['/topic', { topic: '' }],
    ['/locked', { locked: true }],
    ['/announce', { announce: true }],
    ['/announce', { announce: false }],
  ] as const
  for (const [path, body] of steps) {
    const answer = await set.post(`${at}${path}`, body)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.body, { jid: group.jid, ...body })
  }
  assert.deepEqual([group.subject, group.description, group.locked, group.announce], [longest, undefined, true, false])
  const entry = (action: string, metadata: object) => ({ action, instance: 'n0', target: group.jid, metadata })
  assert.deepEqual(await set.audit(), [
    entry('group.name', {}),
    entry('group.topic', { cleared: false }),
    entry('group.topic', { cleared: true }),
    entry('group.locked', { locked: true }),
    entry('group.announce', { announce: true }),
    entry('group.announce', { announce: false }),
  ])
})

test('a new group has the people who could be added, and names those who could not', async () => {
  await using set = await open()
  const { world, bob } = set
  const participants = ['+55 11 88888-0001', '5511888880001@s.whatsapp.net', '200000000000002@lid', '5511777770000']
  const { status, body, text } = await set.post('', { name: 'New team', participants })
  assert.equal(status, 201, text)
  const { jid, ...rest } = body as { jid: string }
  assert.deepEqual(rest, {
    name: 'New team',
    participants: [
      { jid: '5511888880001@s.whatsapp.net', status: 'ok' },
      { jid: '200000000000002@lid', status: 'ok' },
      { jid: '5511777770000@s.whatsapp.net', status: 'failed', code: '404' },
    ],
  })
  const group = world.network.groups.get(jid)
  assert.deepEqual([group.subject, group.roles.size, group.roles.has(bob.user)], ['New team', 3, true])
  const metadata = { ok: 2, failed: 1, invited: 0 }
  assert.deepEqual(await set.audit(), [{ action: 'group.create', instance: 'n0', target: jid, metadata }])
})

test('an account that leaves a group is no member any more', async () => {
  await using set = await open()
  const group = set.bobsGroup()
  const call = { method: 'DELETE', path: `/${group.jid}` }
  const { status, body } = await set.call(call)
  assert.deepEqual([status, body], [200, { jid: group.jid, left: true }])
  assert.ok(!group.roles.has(set.world.phone.user))
  assert.equal((await set.call(call)).status, 404)
  assert.deepEqual(
    (await set.audit()).map(({ action }) => action),
    ['group.leave'],
  )
})

test('the invite link is shown, and a revoked link is replaced by another one', async () => {
  await using set = await open()
  const group = set.ownGroup()
  const path = `/${group.jid}/invite`
  const before = await set.get(path)
  assert.equal(before.status, 200, before.text)
  assert.deepEqual(before.body, { jid: group.jid, link: `https://chat.whatsapp.com/${group.inviteCode}` })
  const revoked = await set.call({ method: 'DELETE', path })
  assert.equal(revoked.status, 200)
  assert.deepEqual(revoked.body, { jid: group.jid, link: `https://chat.whatsapp.com/${group.inviteCode}` })
  assert.notDeepEqual(revoked.body, before.body)
  assert.deepEqual(
    (await set.audit()).map(({ action }) => action),
    ['group.invite'],
  )
})
