// Who gets into a group of the account: refused additions with an invitation, invite links, requests to join, large groups.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import type { JoinRequest } from '../../../src/core/group-administration.ts'
import { Bed } from '../harness/bed.ts'
import { nowhere, rejectsWith, scene } from './harness.ts'

test('a person who can only be invited is reported with the code and a personal invitation', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, groups } = await scene(bed)
  bob.user.refusesGroups = true
  const group = bed.sim.group('Team', phone, [])
  const results = await groups.changeMembers(group.id, 'add', [bob.user.pnJid, eve.user.pnJid])
  const invitation = group.admission.invitationOf(bob.user)
  assert.deepEqual(results, [
    {
      address: bob.user.pnJid,
      code: '403',
      invitation: { code: invitation?.code, expiresAt: (invitation?.expiration ?? 0) * 1000 },
    },
    { address: eve.user.pnJid, code: null, invitation: null },
  ])
  assert.equal(group.roles.has(bob.user), false)
})

test('a new group reports the people who could not be added', async () => {
  await using bed = await Bed.open()
  const { bob, eve, groups } = await scene(bed)
  bob.user.refusesGroups = true
  const unknown = '5511000000000@s.whatsapp.net'
  const { id, results } = await groups.create('Launch', [unknown, bob.user.pnJid, eve.user.pnJid])
  assert.deepEqual(
    results.map(({ address, code, invitation }) => [address, code, invitation !== null]),
    [
      [unknown, '404', false],
      [bob.user.pnJid, '403', true],
      [eve.user.pnJid, null, false],
    ],
  )
  const { members } = await groups.details(id)
  assert.equal(members.length, 2)
})

test('a person whose number the group hides gets the result of the address that the caller gave', async () => {
  await using bed = await Bed.open()
  const { phone, eve, groups } = await scene(bed)
  const shy = bed.sim.person({ phone: '5511888880009', hidesPhone: true })
  const group = bed.sim.group('Team', phone, [])
  const results = await groups.changeMembers(group.id, 'add', [eve.user.pnJid, shy.user.pnJid])
  assert.deepEqual(
    results.map(({ address, code }) => [address, code]),
    [
      [eve.user.pnJid, null],
      [shy.user.pnJid, null],
    ],
  )
})

test('an administrator reads the invite link and replaces it', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, groups } = await scene(bed)
  const own = bed.sim.group('Mine', phone, [bob])
  const first = await groups.inviteCode(own.id)
  assert.equal(first, own.inviteCode)
  const second = await groups.revokeInvite(own.id)
  assert.notEqual(second, first)
  assert.equal(second, own.inviteCode)
  const theirs = bed.sim.group('Theirs', bob, [phone])
  const foreign = bed.sim.group('Foreign', bob, [eve])
  await rejectsWith(groups.inviteCode(theirs.id), 'refused', /not an administrator/)
  await rejectsWith(groups.revokeInvite(theirs.id), 'refused', /not an administrator/)
  await rejectsWith(groups.inviteCode(foreign.id), 'not_found', /not a member/)
  await rejectsWith(groups.revokeInvite(nowhere), 'not_found', /no such group/)
})

test('an administrator reads requests to join, approves one and rejects one', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [])
  assert.deepEqual(await groups.joinRequests(group.id), [])
  group.setApproval(phone.user, true)
  for (const { user } of [bob, eve]) group.join(user)
  const requests = await groups.joinRequests(group.id)
  const expected = [bob, eve].map(({ user }): JoinRequest => {
    const requestedAt = Number(group.admission.requests.get(user)) * 1000
    return { person: { phone: user.phone, lid: user.lid }, requestedAt }
  })
  assert.deepEqual(requests, expected)
  const approved = await groups.decideRequests(group.id, 'approve', [bob.user.pnJid])
  const rejected = await groups.decideRequests(group.id, 'reject', [eve.user.lidJid, bob.user.pnJid])
  assert.deepEqual(
    [...approved, ...rejected].map(({ address, code }) => [address, code]),
    [
      [bob.user.pnJid, null],
      [eve.user.lidJid, null],
      [bob.user.pnJid, '404'],
    ],
  )
  assert.deepEqual([group.roles.has(bob.user), group.roles.has(eve.user)], [true, false])
})

test('only an administrator reads and decides requests to join', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, groups } = await scene(bed)
  const group = bed.sim.group('Theirs', bob, [phone])
  group.setApproval(bob.user, true)
  group.join(eve.user)
  await rejectsWith(groups.joinRequests(group.id), 'refused', /not an administrator/)
  await rejectsWith(groups.decideRequests(group.id, 'approve', [eve.user.pnJid]), 'refused', /not an administrator/)
  await rejectsWith(groups.joinRequests(nowhere), 'not_found', /no such group/)
  assert.equal(group.admission.requests.has(eve.user), true)
})

test('any picture becomes the square picture of the group', async () => {
  await using bed = await Bed.open()
  const { phone, bob, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [bob])
  const background = { r: 200, g: 20, b: 20, alpha: 0.5 }
  const png = await sharp({ create: { width: 900, height: 300, channels: 4, background } })
    .png()
    .toBuffer()
  await groups.setPicture(group.id, png)
  const { format, width, height } = await sharp(group.picture?.jpeg).metadata()
  assert.deepEqual([format, width, height], ['jpeg', 640, 640])
  await rejectsWith(groups.setPicture(group.id, Buffer.from('no picture')), 'refused', /not a picture/)
  await rejectsWith(groups.setPicture(nowhere, png), 'not_found', /no such group/)
  const theirs = bed.sim.group('Theirs', bob, [phone])
  theirs.setLocked(bob.user, true)
  await rejectsWith(groups.setPicture(theirs.id, png), 'refused', /not an administrator/)
})

test('a group of 1,024 members is read, filled and emptied in single questions', async () => {
  await using bed = await Bed.open()
  const { phone, groups } = await scene(bed)
  const users = Array.from({ length: 1024 }, (_, n) =>
    bed.sim.directory.register(`55217${String(n).padStart(8, '0')}`, undefined, 'Member'),
  )
  const group = bed.sim.groups.create({ subject: 'Crowd', creator: phone.user, participants: [] })
  const addresses = users.map((user, n) => (n % 2 === 0 ? user.pnJid : user.lidJid))
  const added = await groups.changeMembers(group.id, 'add', addresses)
  assert.deepEqual(
    added.map(({ address }) => address),
    addresses,
  )
  assert.deepEqual(
    added.flatMap(({ code }, n) => (code === null ? [] : [[n, code]])),
    [[1023, '419']],
  )
  const { members } = await groups.details(group.id)
  assert.equal(members.length, 1024)
  assert.deepEqual(await groups.list(), [{ id: group.id, subject: 'Crowd', size: 1024, role: 'superadmin' }])
  const removed = await groups.changeMembers(group.id, 'remove', addresses.slice(0, 1023))
  assert.ok(removed.every(({ code }) => code === null))
  assert.equal(group.roles.size, 1)
})
