// The account manages a group: subject, description, settings, members, creation and leaving.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GroupAdministration } from '../../../src/core/group-administration.ts'
import { IqError } from '../../../sim/network/server/iq-router.ts'
import { stanza } from '../../../sim/network/wire/stanza.ts'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'
import { nowhere, rejectsWith, scene } from './harness.ts'

test('the details of a group name its settings, its owner and the roles of its members', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, groups } = await scene(bed)
  const shy = bed.sim.person({ phone: '5511888880009', hidesPhone: true })
  const group = bed.sim.group('Team', bob, [phone, eve, shy])
  group.change(bob.user, 'promote', eve.user)
  group.setLocked(bob.user, true)
  group.setDescription(bob.user, 'What we do')
  const { members, ...details } = await groups.details(group.id)
  assert.deepEqual(details, {
    id: group.id,
    subject: 'Team',
    topic: 'What we do',
    owner: { phone: bob.user.phone, lid: bob.user.lid },
    createdAt: Number(group.creation) * 1000,
    isLocked: true,
    isAnnounce: false,
    isEphemeral: false,
  })
  const roleOf = (lid: string) => members.find((one) => one.lid === lid)?.role
  assert.deepEqual(
    [bob, eve, phone, shy].map(({ user }) => roleOf(user.lid)),
    ['superadmin', 'admin', 'member', 'member'],
  )
  assert.match(members.find((one) => one.lid === shy.user.lid)?.redactedPhone ?? '', /^\+55∙+09$/)
})

test('the list names the groups of the account with its role in each', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, groups } = await scene(bed)
  assert.deepEqual(await groups.list(), [])
  const own = bed.sim.group('Mine', phone, [bob, eve])
  const other = bed.sim.group('Old', bob, [phone], 'pn')
  bed.sim.group('Foreign', bob, [eve])
  assert.deepEqual(await groups.list(), [
    { id: own.id, subject: 'Mine', size: 3, role: 'superadmin' },
    { id: other.id, subject: 'Old', size: 2, role: 'member' },
  ])
})

test('subject, description and settings change', async () => {
  await using bed = await Bed.open()
  const { phone, bob, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [bob])
  await groups.setSubject(group.id, 'Die Grüße 👋')
  await groups.setTopic(group.id, 'first')
  await groups.setTopic(group.id, 'second')
  await groups.setLocked(group.id, true)
  await groups.setAnnounce(group.id, true)
  const { subject, topic, isLocked, isAnnounce } = await groups.details(group.id)
  assert.deepEqual(
    { subject, topic, isLocked, isAnnounce },
    { subject: 'Die Grüße 👋', topic: 'second', isLocked: true, isAnnounce: true },
  )
  await groups.setTopic(group.id, '')
  await groups.setLocked(group.id, false)
  await groups.setAnnounce(group.id, false)
  assert.equal(group.description, undefined)
  assert.deepEqual([group.locked, group.announce], [false, false])
})

test('every address gets its own result, in the order of the caller', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [bob])
  const unknown = '5511000000000@s.whatsapp.net'
  const addresses = [eve.user.pnJid, unknown, bob.user.lidJid, eve.user.pnJid]
  const added = await groups.changeMembers(group.id, 'add', addresses)
  assert.deepEqual(
    added.map(({ address, code }) => [address, code]),
    [
      [eve.user.pnJid, null],
      [unknown, '404'],
      [bob.user.lidJid, '409'],
      [eve.user.pnJid, null],
    ],
  )
  const [promoted] = await groups.changeMembers(group.id, 'promote', [eve.user.lidJid])
  assert.equal(promoted?.code, null)
  assert.equal(group.roles.get(eve.user), 'admin')
  await groups.changeMembers(group.id, 'demote', [eve.user.pnJid])
  assert.equal(group.roles.get(eve.user), 'member')
  await groups.changeMembers(group.id, 'remove', [eve.user.pnJid])
  assert.equal(group.roles.has(eve.user), false)
})

test('a member whom the account adds reads the next message', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, session, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [bob])
  await session.send(group.jid, plain('before'), '3EB01')
  await groups.changeMembers(group.id, 'add', [eve.user.pnJid])
  await session.send(group.jid, plain('after'), '3EB02')
  const received = await eve.messages.waitFor('the message after', (one) => one.id === '3EB02')
  assert.equal(textOfMessage(received.message), 'after')
  assert.equal(eve.undecryptable.length, 0)
})

test('a member whom the account adds reads the next message, also when the notice of the server is late', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, session, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [bob])
  await session.send(group.jid, plain('before'), '3EB01')
  bed.sim.router.override('w:g2 set add', () => {
    group.roles.set(eve.user, 'member')
    return [stanza('add', {}, [stanza('participant', { jid: eve.user.lidJid })])]
  })
  await groups.changeMembers(group.id, 'add', [eve.user.pnJid])
  await session.send(group.jid, plain('after'), '3EB02')
  await eve.messages.waitFor('the message after', (one) => one.id === '3EB02')
  assert.equal(eve.undecryptable.length, 0)
})

test('a new group has the members that could be added', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, session, groups } = await scene(bed)
  const { id, subject, results } = await groups.create('Launch', [bob.user.pnJid, eve.user.lidJid])
  assert.equal(subject, 'Launch')
  assert.deepEqual(
    results.map(({ address, code }) => [address, code]),
    [
      [bob.user.pnJid, null],
      [eve.user.lidJid, null],
    ],
  )
  const group = bed.sim.groups.get(`${id}@g.us`)
  assert.equal(group.roles.get(phone.user), 'superadmin')
  await session.send(group.jid, plain('welcome'), '3EB01')
  await bob.messages.waitFor('the welcome', (one) => one.id === '3EB01')
})

test('the account leaves a group and no longer finds it', async () => {
  await using bed = await Bed.open()
  const { phone, bob, groups } = await scene(bed)
  const group = bed.sim.group('Team', bob, [phone])
  await groups.leave(group.id)
  assert.equal(group.roles.has(phone.user), false)
  await rejectsWith(groups.details(group.id), 'not_found', /not a member .*403/)
  await rejectsWith(groups.leave(group.id), 'not_found', /code 404/)
})

const changes: Record<string, (groups: GroupAdministration, id: string, member: string) => Promise<unknown>> = {
  setSubject: (groups, id) => groups.setSubject(id, 'x'),
  setTopic: (groups, id) => groups.setTopic(id, 'x'),
  setLocked: (groups, id) => groups.setLocked(id, false),
  setAnnounce: (groups, id) => groups.setAnnounce(id, true),
  add: (groups, id, member) => groups.changeMembers(id, 'add', [member]),
  remove: (groups, id, member) => groups.changeMembers(id, 'remove', [member]),
  promote: (groups, id, member) => groups.changeMembers(id, 'promote', [member]),
  demote: (groups, id, member) => groups.changeMembers(id, 'demote', [member]),
}

test('a change is refused while the account is no administrator, and an unknown group is not found', async (t) => {
  await using bed = await Bed.open()
  const { phone, bob, eve, groups } = await scene(bed)
  const group = bed.sim.group('Team', bob, [phone, eve])
  group.setLocked(bob.user, true)
  for (const [name, change] of Object.entries(changes)) {
    await t.test(name, async () => {
      await rejectsWith(change(groups, group.id, eve.user.lidJid), 'refused', /not an administrator/)
      await rejectsWith(change(groups, nowhere, eve.user.lidJid), 'not_found', /no such group \(code 404\)/)
    })
  }
  assert.equal(group.subject, 'Team')
  assert.deepEqual([...group.roles.values()], ['superadmin', 'member', 'member'])
})

test('a change of a group of which the account is no member is not found', async (t) => {
  await using bed = await Bed.open()
  const { bob, eve, groups } = await scene(bed)
  const group = bed.sim.group('Foreign', bob, [eve])
  for (const [name, change] of Object.entries(changes)) {
    await t.test(name, () => rejectsWith(change(groups, group.id, eve.user.lidJid), 'not_found', /not a member .*403/))
  }
})

test('a member whom the server refuses with 403 is no administrator', async () => {
  await using bed = await Bed.open()
  const { phone, bob, groups } = await scene(bed)
  const group = bed.sim.group('Theirs', bob, [phone])
  bed.sim.router.override('w:g2 set subject', () => {
    throw new IqError(403, 'forbidden')
  })
  await rejectsWith(groups.setSubject(group.id, 'x'), 'refused', /not an administrator of the group \(code 403\)/)
})
