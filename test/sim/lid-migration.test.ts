// Accounts that have moved to LIDs and accounts that have not, as the server treats them.

import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import { test } from 'node:test'
import { proto } from '../../sim/network/library.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { child } from '../../sim/network/wire/stanza.ts'
import { addCast, ANA, BOB } from './harness/cast.ts'
import { memoryAuth } from './harness/memory-auth.ts'
import { TestClient } from './harness/test-client.ts'

test('a migrated account may not write first to a phone number, and may answer there', async () => {
  await using network = await SimNetwork.start({ isMigrated: true })
  const { phone, bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  const send = async (to: string, text: string) => {
    const sent = await client.socket.sendMessage(to, { text })
    return client.acknowledged(sent?.key.id)
  }
  assert.equal(await send(bob.user.pnJid, 'by number'), '463')
  assert.equal(await send(bob.user.lidJid, 'by LID'), undefined)
  assert.equal(await send(bob.user.pnJid, 'by number, later'), undefined)
  const eve = network.person({ phone: '5511888880002' })
  eve.text(phone, 'hello')
  const { key } = await client.textMessage('hello')
  assert.equal(key.remoteJid, eve.user.lidJid, 'people write to the LID of a migrated account')
})

test('an account that is not migrated may not write to a LID, except to a person who hides the number', async () => {
  await using network = await SimNetwork.start({ isMigrated: false })
  const { phone, bob, auth } = addCast(network)
  const eve = network.person({ phone: '5511888880002', hidesPhone: true })
  await using client = await TestClient.online(network, auth)
  bob.text(phone, 'hello')
  const { key } = await client.textMessage('hello')
  assert.equal(key.remoteJid, bob.user.pnJid)
  for (const [to, answer] of [
    [bob.user.lidJid, '400'],
    [bob.user.pnJid, undefined],
    [eve.user.lidJid, undefined],
  ] as const) {
    const sent = await client.socket.sendMessage(to, { text: 'hi' })
    assert.equal(await client.acknowledged(sent?.key.id), answer)
  }
})

test('a pairing says whether the account is migrated, and a message of the phone says when it migrates', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ ...ANA, isMigrated: false })
  const bob = network.person(BOB)
  const auth = memoryAuth()
  {
    await using client = new TestClient(network, auth)
    await phone.scan(await client.qr())
    await client.closedWith()
  }
  const [success] = network.log.find({ tag: 'iq' }).flatMap(({ node }) => child(node, 'pair-success') ?? [])
  const props = child(success, 'client-props')?.content as Uint8Array
  assert.equal(proto.ClientPairingProps.decode(props).isChatDbLidMigrated, false)
  await using client = await TestClient.online(network, auth)
  phone.migrate([bob])
  const isSync = (one: proto.IWebMessageInfo) => one.message?.protocolMessage?.lidMigrationMappingSyncMessage != null
  const { message } = await client.message('the LIDs', isSync)
  const { encodedMappingPayload } = message?.protocolMessage?.lidMigrationMappingSyncMessage ?? {}
  const payload = proto.LIDMigrationMappingSyncPayload.decode(gunzipSync(encodedMappingPayload ?? Buffer.alloc(0)))
  assert.deepEqual(
    payload.pnToLidMappings.map(({ pn, assignedLid }) => [String(pn), String(assignedLid)]),
    [[bob.user.phone, bob.user.lid]],
  )
})

test('a group message with the former addressing mode is refused', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  const group = network.group('Team', bob, [phone], 'pn')
  await using client = await TestClient.online(network, auth)
  const metadata = await client.socket.groupMetadata(group.jid)
  group.addressing = 'lid'
  const send = async (addressing_mode: string, id: string) => {
    await client.socket.sendNode({ tag: 'message', attrs: { id, to: metadata.id, type: 'text', addressing_mode } })
    return client.acknowledged(id)
  }
  assert.equal(await send('pn', '3EB01'), '421')
  assert.equal(await send('lid', '3EB02'), undefined)
})

test('hints come with the acknowledgement of a message that is taken', async () => {
  await using network = await SimNetwork.start()
  const { bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  network.fault({ kind: 'ack_error', code: 479 })
  network.fault({ kind: 'ack_hint', refreshLid: true, addressingMode: 'lid' })
  for (const id of ['3EB01', '3EB02', '3EB03']) {
    await client.socket.sendMessage(bob.user.pnJid, { text: 'hi' }, { messageId: id })
    await client.acknowledged(id)
  }
  const acks = client.acks.entries as unknown as Record<string, string>[]
  assert.deepEqual(
    acks.map(({ error, refresh_lid, addressing_mode }) => [error, refresh_lid, addressing_mode]),
    [
      ['479', undefined, undefined],
      [undefined, 'true', 'lid'],
      [undefined, undefined, undefined],
    ],
  )
})
