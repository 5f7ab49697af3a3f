// The answers to user sync have the shape of the real server's answers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proto } from '../../sim/network/library.ts'
import { verifySignature } from '../../sim/network/signal/curve.ts'
import { allChildren, child, children, requiredBytes } from '../../sim/network/wire/stanza.ts'
import type { Stanza } from '../../sim/network/wire/stanza.ts'
import { Stage } from './harness/stage.ts'

test('the devices of a user come with their indexes and a list that the primary device has signed', async () => {
  await using stage = await Stage.open()
  const { network, client, bob } = stage
  const eve = network.person({ phone: '5511888880003', devices: 3 })
  await client.socket.sendMessage(eve.user.pnJid, { text: 'hello' })
  await eve.messages.waitFor('the message', () => true)
  const answers = network.log.find({ tag: 'iq' }).filter(({ direction }) => direction === 'out')
  const about = (node: Stanza | undefined) =>
    children(child(node, 'list'), 'user').find(({ attrs }) => attrs['jid'] === eve.user.pnJid)
  const usync = answers.map(({ node }) => child(node, 'usync')).find((node) => child(about(node), 'devices'))
  assert.deepEqual(
    allChildren(usync).map(({ tag }) => tag),
    ['result', 'list', 'side_list'],
  )
  const devices = child(about(usync), 'devices')
  const listed = children(child(devices, 'device-list'), 'device').map(({ attrs }) => attrs)
  assert.deepEqual(listed, [{ id: '0' }, { id: '1', 'key-index': '5' }, { id: '2', 'key-index': '6' }])
  const signed = proto.ADVSignedKeyIndexList.decode(requiredBytes(child(devices, 'key-index-list'), 'list'))
  const details = Buffer.from(signed.details ?? [])
  assert.deepEqual(proto.ADVKeyIndexList.decode(details).validIndexes, [0, 5, 6])
  const signature = Buffer.from(signed.accountSignature ?? [])
  const input = Buffer.concat([Buffer.from([6, 2]), details])
  assert.ok(verifySignature(eve.device.signal.identity.publicKey, input, signature))
  assert.ok(!verifySignature(bob.device.signal.identity.publicKey, input, signature))
})
