// Checks receipts, typing and presence with the real client, in both directions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WAMessageStatus } from 'baileys'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { ANA, BOB } from './harness/cast.ts'
import { memoryAuth } from './harness/memory-auth.ts'
import { TestClient } from './harness/test-client.ts'

test('the client gets acknowledgements and delivered, read and played receipts', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  bob.confirmsDelivery = false
  await using client = await TestClient.linked(network, phone)
  const sent = await client.socket.sendMessage(bob.user.pnJid, { text: 'please read' })
  assert.equal(await client.acknowledged(sent?.key.id), undefined)
  const received = await bob.messages.waitFor('the text', (one) => one.id === sent?.key.id)
  // The client merges a status that comes within 100 ms of the send into its own copy of the message.
  await client.textMessage('please read')
  for (const [type, status] of [
    ['delivered', WAMessageStatus.DELIVERY_ACK],
    ['read', WAMessageStatus.READ],
    ['played', WAMessageStatus.PLAYED],
  ] as const) {
    bob.receipt(type, [received])
    await client.event('messages.update', `status ${status}`, (updates) =>
      updates.some((one) => one.key.id === received.id && one.update.status === status),
    )
  }
})

test('a person sees that the client has read a message', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using client = await TestClient.linked(network, phone)
  const sent = bob.text(phone, 'read me')
  const { key } = await client.textMessage('read me')
  await client.socket.readMessages([key])
  await bob.receipts.waitFor('read', (one) => one.id === sent.id && one.type === 'read')
})

test('a message that one client of an account reads is read on the other client and on the phone', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using one = await TestClient.linked(network, phone)
  await using two = await TestClient.linked(network, phone)
  const sent = bob.text(phone, 'read me once')
  const { key } = await one.textMessage('read me once')
  await two.textMessage('read me once')
  await one.socket.readMessages([key])
  await two.event('messages.update', 'read elsewhere', (updates) =>
    updates.some((update) => update.key.id === sent.id && update.update.status === WAMessageStatus.READ),
  )
  await phone.receipts.waitFor(
    'read on the companion',
    (receipt) => receipt.id === sent.id && receipt.type === 'read-self',
  )
})

test('typing is visible in both directions, to the client only while it is available and subscribed', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using client = await TestClient.linked(network, phone)
  await network.waitForStanza('presence', (one) => one.attrs.type === 'available')
  bob.typing(phone, 'recording')
  await client.socket.presenceSubscribe(bob.user.pnJid)
  await network.waitForStanza('presence', (one) => one.attrs.type === 'subscribe')
  bob.typing(phone)
  await client.event('presence.update', 'bob types', (one) =>
    Object.values(one.presences).some((presence) => presence.lastKnownPresence === 'composing'),
  )
  await client.socket.sendPresenceUpdate('recording', bob.user.pnJid)
  const seen = await bob.side.waitFor('recording', (one) => one.tag === 'chatstate')
  assert.deepEqual(seen.attrs.from, '5511999990001:1@s.whatsapp.net')
  await client.socket.sendPresenceUpdate('unavailable')
  await network.waitForStanza('presence', (one) => one.attrs.type === 'unavailable')
  bob.typing(phone, 'recording')
  bob.text(phone, 'after typing')
  await client.textMessage('after typing')
  const recording = client.events.entries.filter(
    (one) => one.name === 'presence.update' && JSON.stringify(one.data).includes('recording'),
  )
  assert.equal(recording.length, 0)
})

test('only a client that subscribed sees a person come online', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using client = await TestClient.linked(network, phone)
  await network.waitForStanza('presence', (one) => one.attrs.type === 'available')
  bob.presence(phone, 'unavailable')
  bob.text(phone, 'nobody asked')
  await client.textMessage('nobody asked')
  assert.equal(
    client.events.entries.some((one) => one.name === 'presence.update'),
    false,
  )
  await client.socket.presenceSubscribe(bob.user.pnJid)
  await network.waitForStanza('presence', (one) => one.attrs.type === 'subscribe')
  bob.presence(phone, 'available')
  await client.event('presence.update', 'bob available', (one) => one.id === bob.user.pnJid)
})

test('reading on the phone marks the message as read at the client and for the sender', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using client = await TestClient.linked(network, phone)
  const sent = bob.text(phone, 'look')
  await client.textMessage('look')
  assert.deepEqual(phone.read(bob), [sent.id])
  await client.event('messages.update', 'read elsewhere', (updates) =>
    updates.some((one) => one.key.id === sent.id && one.update.status === WAMessageStatus.READ && !one.key.fromMe),
  )
  await bob.receipts.waitFor('read', (one) => one.id === sent.id && one.type === 'read')
})

test('all receipts of several members reach a client that was offline', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const people = [1, 2, 3].map((n) => network.person({ phone: `551188888000${n}` }))
  const [bob, ...others] = people
  if (!bob) throw new Error('there is no person')
  const group = network.group('Team', bob, [phone, ...others])
  for (const person of people) person.confirmsDelivery = false
  const auth = memoryAuth(network.linkReady(phone))
  let id: string | null | undefined
  {
    await using client = await TestClient.online(network, auth)
    id = (await client.socket.sendMessage(group.jid, { text: 'read me' }))?.key.id
    await Promise.all(people.map((person) => person.messages.waitFor('the text', (one) => one.id === id)))
  }
  for (const person of people) person.receipt('read', [...person.messages.entries])
  await using client = await TestClient.online(network, auth)
  for (const person of people) {
    await client.event('message-receipt.update', `read by ${person.user.phone}`, (all) =>
      all.some((one) => one.key.id === id && one.receipt.userJid === person.user.lidJid),
    )
    const isAck = ({ attrs }: { attrs: Record<string, string> }): boolean =>
      attrs.class === 'receipt' && attrs.id === id && attrs.participant === person.user.lidJid
    await network.waitForStanza('ack', isAck)
  }
  assert.equal(phone.companion.books.size, 0)
})
