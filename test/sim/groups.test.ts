// Checks groups with the real client: sender keys in both directions, changes, permissions, notifications.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { children } from '../../sim/network/wire/stanza.ts'
import { ANA, BOB } from './harness/cast.ts'
import { TestClient } from './harness/test-client.ts'

type Scene = { phone: SimPhone; bob: SimPerson; eve: SimPerson }

function scene(network: SimNetwork): Scene {
  return {
    phone: network.account(ANA),
    bob: network.person(BOB),
    eve: network.person({ phone: '5511888880002', lid: '200000000000002', pushName: 'Eve' }),
  }
}

test('a group message reaches the client with the LID and phone number of its author', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, eve } = scene(network)
  const group = network.group('Team', bob, [phone, eve])
  await using client = await TestClient.linked(network, phone)
  for (const author of [bob, eve, bob]) {
    const sent = author.text(group, `hello from ${author.user.pushName}`)
    const { key } = await client.message('the group text', (one) => one.key.id === sent.id)
    assert.equal(key.remoteJid, group.jid)
    assert.equal(key.participant, author.user.lidJid)
    assert.equal(key.participantAlt, author.user.pnJid)
    await author.receipts.waitFor('delivery', (one) => one.id === sent.id && one.from === phone.user)
  }
})

test("all members, new ones too, decrypt the client's group messages", async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, eve } = scene(network)
  const group = network.group('Team', bob, [phone])
  await using client = await TestClient.linked(network, phone)
  await client.socket.sendMessage(group.jid, { text: 'first' })
  await bob.messages.waitFor('first', (one) => textOfMessage(one.message) === 'first')
  group.change(bob.user, 'add', eve.user)
  await client.event('group-participants.update', 'eve joins', (one) => one.action === 'add')
  await client.socket.sendMessage(group.jid, { text: 'second' })
  for (const member of [bob, eve]) {
    const received = await member.messages.waitFor('second', (one) => textOfMessage(one.message) === 'second')
    assert.equal(received.chat, group.jid)
    assert.equal(member.undecryptable.length, 0)
  }
  await phone.messages.waitFor('the own copy', (one) => one.own && textOfMessage(one.message) === 'second')
})

test('messages go in both directions in a group that is addressed by phone numbers', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, eve } = scene(network)
  const group = network.group('Old team', bob, [phone, eve], 'pn')
  await using client = await TestClient.linked(network, phone)
  bob.text(group, 'old style')
  const { key } = await client.textMessage('old style')
  assert.equal(key.participant, bob.user.pnJid)
  await client.socket.sendMessage(group.jid, { text: 'answer' })
  const answer = await eve.messages.waitFor('answer', (one) => textOfMessage(one.message) === 'answer')
  eve.react(answer, '👍')
  const [reaction] = await client.event('messages.reaction', 'the thumb')
  assert.equal(reaction?.key.participant, phone.user.pnJid)
})

test("the owner's group messages from the phone appear at the client", async () => {
  await using network = await SimNetwork.start()
  const { phone, bob } = scene(network)
  const group = network.group('Team', bob, [phone])
  await using client = await TestClient.linked(network, phone)
  phone.text(group, 'from my phone')
  const { key } = await client.textMessage('from my phone')
  assert.equal(key.fromMe, true)
  assert.equal(key.remoteJid, group.jid)
})

test('the client creates a group, sees its metadata, and its members are told', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, eve } = scene(network)
  await using client = await TestClient.linked(network, phone)
  const created = await client.socket.groupCreate('Launch', [bob.user.pnJid, eve.user.lidJid])
  assert.equal(created.subject, 'Launch')
  assert.deepEqual(created.participants.map((one) => one.id).sort(), [
    phone.user.lidJid,
    bob.user.lidJid,
    eve.user.lidJid,
  ])
  assert.equal(created.participants.find((one) => one.id === bob.user.lidJid)?.phoneNumber, bob.user.pnJid)
  await bob.side.waitFor('the group', (one) => one.tag === 'notification' && one.attrs.from === created.id)
  assert.deepEqual(Object.keys(await client.socket.groupFetchAllParticipating()), [created.id])
})

test('the client changes subject, description, settings and members, and all members are told', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, eve } = scene(network)
  const group = network.group('Team', phone, [bob])
  await using client = await TestClient.linked(network, phone)
  const { socket } = client
  await socket.groupUpdateSubject(group.jid, 'New team')
  await socket.groupUpdateDescription(group.jid, 'What we do')
  await socket.groupSettingUpdate(group.jid, 'announcement')
  await socket.groupSettingUpdate(group.jid, 'locked')
  await socket.groupToggleEphemeral(group.jid, 86_400)
  const added = await socket.groupParticipantsUpdate(group.jid, [eve.user.pnJid, '5511000000000@s.whatsapp.net'], 'add')
  assert.deepEqual(
    added.map((one) => one.status),
    ['200', '404'],
  )
  await socket.groupParticipantsUpdate(group.jid, [eve.user.lidJid], 'promote')
  const metadata = await socket.groupMetadata(group.jid)
  assert.equal(metadata.subject, 'New team')
  assert.equal(metadata.desc, 'What we do')
  assert.equal(metadata.announce, true)
  assert.equal(metadata.restrict, true)
  assert.equal(metadata.ephemeralDuration, 86_400)
  assert.equal(metadata.participants.find((one) => one.id === eve.user.lidJid)?.admin, 'admin')
  await socket.groupParticipantsUpdate(group.jid, [eve.user.lidJid], 'remove')
  assert.equal(group.roles.has(eve.user), false)
  await eve.side.waitFor('her removal', (one) => JSON.stringify(one).includes('"remove"'))
  await socket.groupLeave(group.jid)
  assert.equal(group.roles.has(phone.user), false)
  await assert.rejects(socket.groupMetadata(group.jid), /forbidden/)
})

test('the client emits every change that people make to a group', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, eve } = scene(network)
  const group = network.group('Team', bob, [phone])
  await using client = await TestClient.linked(network, phone)
  const update = (what: string, has: (one: Record<string, unknown>) => boolean): Promise<unknown> =>
    client.event('groups.update', what, (updates) => updates.some((one) => one.id === group.jid && has({ ...one })))
  group.setSubject(bob.user, 'Renamed')
  await update('the subject', (one) => one.subject === 'Renamed' && one.author === bob.user.lidJid)
  group.setDescription(bob.user, 'About us')
  await update('the description', (one) => one.desc === 'About us')
  group.setLocked(bob.user, true)
  await update('locked', (one) => one.restrict === true)
  group.setAnnounce(bob.user, true)
  await update('announce', (one) => one.announce === true)
  for (const action of ['add', 'promote', 'demote', 'remove'] as const) {
    group.change(bob.user, action, eve.user)
    await client.event('group-participants.update', action, (one) => one.action === action)
  }
  group.setEphemeral(bob.user, 604_800)
  await client.event('chats.update', 'the message timer', (chats) =>
    chats.some((one) => one.id === group.jid && one.ephemeralExpiration === 604_800),
  )
  group.change(bob.user, 'add', eve.user)
  group.leave(eve.user)
  await client.event(
    'group-participants.update',
    'eve leaves',
    (one) => one.action === 'remove' && one.author === eve.user.lidJid,
  )
})

test('a member who is not an administrator may not make reserved changes', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, eve } = scene(network)
  const group = network.group('Team', bob, [phone, eve])
  group.setLocked(bob.user, true)
  group.setAnnounce(bob.user, true)
  await using client = await TestClient.linked(network, phone)
  await assert.rejects(client.socket.groupUpdateSubject(group.jid, 'Mine'), { data: 401 })
  await assert.rejects(client.socket.groupSettingUpdate(group.jid, 'unlocked'), { data: 401 })
  await assert.rejects(client.socket.groupParticipantsUpdate(group.jid, [eve.user.lidJid], 'remove'), { data: 401 })
  const sent = await client.socket.sendMessage(group.jid, { text: 'not allowed' })
  assert.equal(await client.acknowledged(sent?.key.id), '403')
  assert.throws(() => eve.text(group, 'me neither'), /403/)
  assert.throws(() => {
    group.setSubject(eve.user, 'nor this')
  }, /not-authorized/)
})

test('the client reads, renews and accepts an invitation link', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob } = scene(network)
  const own = network.group('Mine', phone, [bob])
  const other = network.group('Theirs', bob, [])
  await using client = await TestClient.linked(network, phone)
  const first = await client.socket.groupInviteCode(own.jid)
  assert.notEqual(await client.socket.groupRevokeInvite(own.jid), first)
  assert.equal(await client.socket.groupAcceptInvite(other.inviteCode), other.jid)
  assert.equal(other.roles.has(phone.user), true)
  await assert.rejects(client.socket.groupAcceptInvite(own.inviteCode), { data: 409 })
  assert.equal(own.roles.get(phone.user), 'superadmin')
})

test('after a member has left, the other members get a new sender key', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, eve } = scene(network)
  const group = network.group('Team', bob, [phone, eve])
  await using client = await TestClient.linked(network, phone)
  const parts: number[] = []
  for (const text of ['first', 'second', 'without Eve']) {
    if (text === 'without Eve') group.change(bob.user, 'remove', eve.user)
    const { id } = bob.text(group, text)
    await client.textMessage(text)
    const [sent] = network.log.find({ tag: 'message' }).filter((one) => one.attrs.id === id)
    parts.push(children(sent?.node, 'enc').length)
  }
  assert.deepEqual(parts, [2, 1, 2])
})

test('a member who lost the sender key requests it and then reads', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, eve } = scene(network)
  const group = network.group('Team', bob, [phone, eve])
  await using client = await TestClient.linked(network, phone)
  await client.socket.sendMessage(group.jid, { text: 'first' })
  await bob.messages.waitFor('first', (one) => textOfMessage(one.message) === 'first')
  bob.device.forgetEverything()
  await client.socket.sendMessage(group.jid, { text: 'second' })
  await bob.undecryptable.waitFor('the failure', () => true)
  await bob.messages.waitFor('second', (one) => textOfMessage(one.message) === 'second')
  await eve.messages.waitFor('second', (one) => textOfMessage(one.message) === 'second')
  assert.equal(eve.undecryptable.length, 0)
})

test('a member with a hidden phone number is known by LID only', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob } = scene(network)
  const shy = network.person({ phone: '5511888880009', pushName: 'Shy', hidesPhone: true })
  const group = network.group('Team', bob, [phone, shy])
  await using client = await TestClient.linked(network, phone)
  shy.text(group, 'guess who')
  const { key, pushName } = await client.textMessage('guess who')
  assert.equal(key.participant, shy.user.lidJid)
  assert.equal(key.participantAlt, undefined)
  assert.equal(pushName, 'Shy')
  const { participants } = await client.socket.groupMetadata(group.jid)
  assert.equal(participants.find((one) => one.id === shy.user.lidJid)?.phoneNumber, undefined)
  await client.socket.sendMessage(group.jid, { text: 'hello, stranger' })
  await shy.messages.waitFor('the answer', (one) => one.chat === group.jid)
})
