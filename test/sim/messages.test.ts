// Checks one-to-one messages with the real client, in both directions, with several devices and accounts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WAMessageStatus } from 'baileys'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { describeStanza } from '../../sim/network/wire/stanza.ts'
import { ANA, BOB } from './harness/cast.ts'
import { memoryAuth } from './harness/memory-auth.ts'
import { TestClient, textOf } from './harness/test-client.ts'

/** The id of the last notification. */
function lastNews(network: SimNetwork): string | undefined {
  return network.log.find({ tag: 'notification' }).at(-1)?.attrs.id
}

test('a text that is addressed by phone number reaches the client with both addresses of the sender', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using client = await TestClient.linked(network, phone)
  const sent = bob.text(phone, 'hello')
  const { key, pushName } = await client.textMessage('hello')
  assert.equal(key.id, sent.id)
  assert.equal(key.remoteJid, '5511888880001@s.whatsapp.net')
  assert.equal(key.remoteJidAlt, '200000000000001@lid')
  assert.equal(pushName, 'Bob')
  await bob.receipts.waitFor('delivery', (one) => one.id === sent.id && one.type === 'delivered' && one.device === 1)
  assert.deepEqual(phone.companion.books.unacknowledgedIds(), [])
})

test('a text that is addressed by LID reaches the client the same way', async () => {
  await using network = await SimNetwork.start({ addressing: 'lid' })
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using client = await TestClient.linked(network, phone)
  bob.text(phone, 'hello')
  const { key } = await client.textMessage('hello')
  assert.equal(key.remoteJid, '200000000000001@lid')
  assert.equal(key.remoteJidAlt, '5511888880001@s.whatsapp.net')
})

test("a person and the own phone decrypt the client's messages, by phone number and by LID", async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using client = await TestClient.linked(network, phone)
  for (const to of [bob.user.pnJid, bob.user.lidJid]) {
    const body = `hi ${to}`
    const sent = await client.socket.sendMessage(to, { text: body })
    const received = await bob.messages.waitFor(body, (one) => textOfMessage(one.message) === body)
    assert.equal(received.id, sent?.key.id)
    assert.equal(received.from, phone.user)
    const copy = await phone.messages.waitFor('the own copy', (one) => one.id === received.id)
    assert.equal(copy.own, true)
    assert.equal(copy.chat, to)
    assert.equal(copy.message.deviceSentMessage?.destinationJid, to)
  }
  assert.equal(bob.undecryptable.length, 0)
})

test('a person has a message before the client can read its acknowledgement, and confirms it after that', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using client = await TestClient.linked(network, phone)
  const had = Promise.withResolvers<number>()
  const confirmed = Promise.withResolvers<boolean>()
  let isAcknowledged = false
  network.log.subscribe(({ direction, tag, attrs }) => {
    if (direction !== 'out') return
    if (tag === 'receipt') confirmed.resolve(isAcknowledged)
    if (tag !== 'ack' || attrs.class !== 'message') return
    isAcknowledged = true
    // The client reads in a later callback of the event loop. This one is still part of the present callback.
    process.nextTick(() => {
      had.resolve(bob.messages.length)
    })
  })
  await client.socket.sendMessage(bob.user.pnJid, { text: 'hello' })
  assert.equal(await had.promise, 1)
  assert.equal(await confirmed.promise, true)
})

test('a conversation passes many ratchet steps in both directions', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using client = await TestClient.linked(network, phone)
  for (let round = 0; round < 8; round++) {
    bob.text(phone, `in ${round} a`)
    bob.text(phone, `in ${round} b`)
    await client.textMessage(`in ${round} b`)
    await client.socket.sendMessage(bob.user.pnJid, { text: `out ${round}` })
    await bob.messages.waitFor(`out ${round}`, (one) => textOfMessage(one.message) === `out ${round}`)
  }
  assert.equal(bob.undecryptable.length + phone.undecryptable.length, 0)
  assert.equal(client.messages().filter((one) => textOf(one)?.startsWith('in')).length, 16)
})

test('every device of a person gets the message', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person({ ...BOB, devices: 3 })
  await using client = await TestClient.linked(network, phone)
  await client.socket.sendMessage(bob.user.pnJid, { text: 'to all' })
  const received = await bob.messages.waitFor('the text', (one) => textOfMessage(one.message) === 'to all')
  await bob.opened.waitFor('the third device', (one) => one.id === received.id && one.device === 2)
  assert.equal(bob.opened.entries.filter((one) => one.id === received.id).length, 3)
})

test('messages to an offline client wait and are delivered at the next login', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  const auth = memoryAuth(network.linkReady(phone))
  const waiting = ['one', 'two', 'three'].map((text) => bob.text(phone, text).id)
  assert.deepEqual(phone.companion.books.unacknowledgedIds(), waiting)
  await using client = await TestClient.online(network, auth)
  await client.textMessage('three')
  const texts = client.messages().map(textOf)
  assert.deepEqual(texts, ['one', 'two', 'three'])
  const kinds = client.events.entries.flatMap((one) => (one.name === 'messages.upsert' ? [one.data.type] : []))
  assert.deepEqual([...new Set(kinds)], ['append'])
  await bob.receipts.waitFor('delivery of the last', (one) => one.id === waiting[2] && one.device === 1)
  assert.equal(phone.companion.books.size, 0)
})

test("the owner's messages from the phone appear at the client as its own", async () => {
  for (const addressing of ['pn', 'lid'] as const) {
    await using network = await SimNetwork.start({ addressing })
    const phone = network.account(ANA)
    const bob = network.person(BOB)
    await using client = await TestClient.linked(network, phone)
    const sent = phone.text(bob, 'from my phone')
    const { key } = await client.textMessage('from my phone')
    assert.equal(key.fromMe, true)
    assert.equal(key.id, sent.id)
    assert.equal(key.remoteJid, bob.user.jid(addressing))
    const received = await bob.messages.waitFor('the text', (one) => one.id === sent.id)
    assert.equal(received.from, phone.user)
    await network.waitForStanza('receipt', (one) => one.attrs.type === 'sender')
    assert.equal(phone.companion.books.size, 0)
  }
})

test('a message from the second device of a person belongs to the same chat', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person({ ...BOB, devices: 2 })
  await using client = await TestClient.linked(network, phone)
  bob.text(phone, 'from the desktop', { device: 1 })
  const { key } = await client.textMessage('from the desktop')
  assert.equal(key.remoteJid, bob.user.pnJid)
})

test("two clients of one account see each other's messages", async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using one = await TestClient.linked(network, phone)
  await using two = await TestClient.linked(network, phone)
  await one.socket.sendMessage(bob.user.pnJid, { text: 'from one' })
  const { key } = await two.textMessage('from one')
  assert.equal(key.fromMe, true)
  assert.equal(key.remoteJid, bob.user.pnJid)
  bob.text(phone, 'to both')
  await one.textMessage('to both')
  await two.textMessage('to both')
})

test('a client that knows the devices of an account is told when a device is added or removed', async () => {
  await using network = await SimNetwork.start()
  const ana = network.account(ANA)
  const carl = network.account({ phone: '5511999990002', name: 'Carl' })
  await using client = await TestClient.linked(network, ana)
  await client.socket.sendMessage(carl.user.pnJid, { text: 'before' })
  await carl.messages.waitFor('before', (one) => textOfMessage(one.message) === 'before')
  await using added = await TestClient.linked(network, carl)
  await network.waitForStanza('ack', (one) => one.attrs.class === 'notification' && one.attrs.type === 'devices')
  await client.socket.sendMessage(carl.user.pnJid, { text: 'to the new device too' })
  await added.textMessage('to the new device too')
  carl.unlink()
  await network.waitForStanza('ack', ({ attrs }) => attrs.class === 'notification' && attrs.id === lastNews(network))
  const sent = await client.socket.sendMessage(carl.user.pnJid, { text: 'to the phone only' })
  const { node } = await network.waitForStanza('message', (one) => one.attrs.id === sent?.key.id)
  assert.equal(describeStanza(node).includes(carl.user.jid('pn', 1)), false)
  assert.equal(describeStanza(node).includes(carl.user.jid('lid', 1)), false)
})

test('two linked accounts write to each other', async () => {
  await using network = await SimNetwork.start()
  const ana = network.account(ANA)
  const carl = network.account({ phone: '5511999990002', name: 'Carl' })
  await using one = await TestClient.linked(network, ana)
  await using two = await TestClient.linked(network, carl)
  await one.socket.sendMessage(carl.user.pnJid, { text: 'ping' })
  const { key } = await two.textMessage('ping')
  assert.equal(key.remoteJid, ana.user.pnJid)
  await two.socket.sendMessage(ana.user.pnJid, { text: 'pong' })
  await one.textMessage('pong')
  await one.event('messages.update', 'delivered', (updates) =>
    updates.some((update) => update.update.status === WAMessageStatus.DELIVERY_ACK),
  )
})

test('a phone number finds its person, and an unknown number finds none', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  await using client = await TestClient.linked(network, phone)
  const found = await client.socket.onWhatsApp(bob.user.phone, '5511777770000')
  assert.deepEqual(found, [{ jid: bob.user.pnJid, exists: true }])
})
