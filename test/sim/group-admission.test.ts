// Checks with the real client who gets into a group: privacy, invitations, requests, full groups, communities.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { ANA, BOB } from './harness/cast.ts'
import { TestClient } from './harness/test-client.ts'

test('a person who refuses groups is only invited, and enters with the invitation', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  bob.user.refusesGroups = true
  const group = network.group('Team', phone, [])
  await using client = await TestClient.linked(network, phone)
  const [added] = await client.socket.groupParticipantsUpdate(group.jid, [bob.user.pnJid], 'add')
  assert.equal(added?.status, '403')
  assert.equal(added.jid, bob.user.lidJid)
  const invitation = group.admission.invitationOf(bob.user)
  assert.ok(JSON.stringify(added.content).includes(`"code":"${invitation?.code ?? ''}"`))
  assert.throws(() => {
    group.accept(bob.user, 'other')
  }, /not-acceptable/)
  group.accept(bob.user, invitation?.code)
  await client.event('group-participants.update', 'bob joins', (one) => one.action === 'add')
  const created = await client.socket.groupCreate('Launch', [bob.user.pnJid])
  assert.equal(network.groups.get(created.id).roles.has(bob.user), false)
})

test('people who use the link of a group with approval wait for an administrator', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  const eve = network.person({ phone: '5511888880002' })
  const group = network.group('Team', phone, [])
  await using client = await TestClient.linked(network, phone)
  await client.socket.groupJoinApprovalMode(group.jid, 'on')
  assert.deepEqual([group.join(bob.user), group.join(eve.user)], [false, false])
  const requests = await client.socket.groupRequestParticipantsList(group.jid)
  assert.deepEqual(
    requests.map((one) => one['jid']),
    [bob.user.lidJid, eve.user.lidJid],
  )
  await client.socket.groupRequestParticipantsUpdate(group.jid, [bob.user.lidJid], 'approve')
  await client.socket.groupRequestParticipantsUpdate(group.jid, [eve.user.lidJid], 'reject')
  const [again] = await client.socket.groupRequestParticipantsUpdate(group.jid, [eve.user.lidJid], 'approve')
  assert.equal(again?.status, '404')
  assert.deepEqual([group.roles.has(bob.user), group.roles.has(eve.user)], [true, false])
})

test('a group has 1,024 members at most', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const users = Array.from({ length: 1024 }, (_, n) =>
    network.directory.register(`55217${String(n).padStart(8, '0')}`, undefined, 'Member'),
  )
  const group = network.groups.create({ subject: 'Crowd', creator: phone.user, participants: users.slice(1) })
  await using client = await TestClient.linked(network, phone)
  assert.equal((await client.socket.groupMetadata(group.jid)).participants.length, 1024)
  const [added] = await client.socket.groupParticipantsUpdate(group.jid, [users[0]?.pnJid ?? ''], 'add')
  assert.equal(added?.status, '419')
})

test('the client sees a community and its announcement group', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  const { community, announcements } = network.community('Club', bob, [phone])
  await using client = await TestClient.linked(network, phone)
  const listed = await client.socket.groupFetchAllParticipating()
  assert.equal(listed[community.jid]?.isCommunity, true)
  assert.equal(listed[announcements.jid]?.isCommunityAnnounce, true)
  assert.equal(listed[announcements.jid]?.linkedParent, community.jid)
  const sent = bob.text(announcements, 'news')
  const { key } = await client.message('the news', (one) => one.key.id === sent.id)
  assert.equal(key.remoteJid, announcements.jid)
})
