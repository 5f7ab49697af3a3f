// Checks with the real client that damaged, repeated, late and unconfirmed messages are read once in the end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WAMessageStubType } from 'baileys'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { addCast } from './harness/cast.ts'
import { TestClient, textOf } from './harness/test-client.ts'

test('a message with a lost acknowledgement can be sent again under the same id and arrives once', async () => {
  await using network = await SimNetwork.start()
  const { bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  network.fault({ kind: 'lost_ack' })
  const messageId = '3EB0SAMEIDTWICE'
  await client.socket.sendMessage(bob.user.pnJid, { text: 'once' }, { messageId })
  await bob.messages.waitFor('once', (one) => one.id === messageId)
  assert.equal(client.acks.length, 0)
  await client.socket.sendMessage(bob.user.pnJid, { text: 'once' }, { messageId })
  assert.equal(await client.acknowledged(messageId), undefined)
  await client.socket.sendMessage(bob.user.pnJid, { text: 'last' })
  await bob.messages.waitFor('last', (one) => textOfMessage(one.message) === 'last')
  assert.equal(bob.messages.length, 2)
  assert.equal(bob.duplicates, 1)
})

test('a message lost on its way to the server is neither delivered nor acknowledged', async () => {
  await using network = await SimNetwork.start()
  const { bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  network.fault({ kind: 'lost_message' })
  await client.socket.sendMessage(bob.user.pnJid, { text: 'lost' }, { messageId: '3EB0LOST' })
  const next = await client.socket.sendMessage(bob.user.pnJid, { text: 'next' })
  assert.equal(await client.acknowledged(next?.key.id), undefined)
  await bob.messages.waitFor('next', (one) => textOfMessage(one.message) === 'next')
  assert.equal(bob.messages.length, 1)
  assert.equal(client.acks.length, 1)
})

test('a message to the own phone does not use up a fault', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  const id = phone.archive.add(bob.user, { text: 'old', from: bob.user, at: 1_700_000_000 })
  await using client = await TestClient.online(network, auth)
  network.fault({ kind: 'ack_error', code: 463 })
  await client.socket.requestPlaceholderResend({ remoteJid: bob.user.pnJid, fromMe: false, id })
  await client.textMessage('old')
  const refused = await client.socket.sendMessage(bob.user.pnJid, { text: 'refused' })
  assert.equal(await client.acknowledged(refused?.key.id), '463')
})

test('a senseless retry request is reported', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  const { id } = bob.text(phone, 'hello')
  await client.textMessage('hello')
  const attrs = { id, to: bob.user.pnJid, type: 'retry' }
  await client.socket.sendNode({ tag: 'receipt', attrs, content: [{ tag: 'keys', attrs: {} }] })
  bob.text(phone, 'still there')
  await client.textMessage('still there')
  const [problem] = network.log.takeProblems()
  assert.match(problem ?? '', /no signed prekey/)
})

test('a prekey without a valid signature is refused', async () => {
  await using network = await SimNetwork.start()
  const { phone, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  const before = phone.companion.keys.signedPreKey
  const parts = Object.entries({ id: 3, value: 32, signature: 64 })
  const content = parts.map(([tag, length]) => ({ tag, attrs: {}, content: Buffer.alloc(length, 1) }))
  const rotate = { tag: 'rotate', attrs: {}, content: [{ tag: 'skey', attrs: {}, content }] }
  const attrs = { to: '@s.whatsapp.net', type: 'set', xmlns: 'encrypt' }
  await assert.rejects(client.socket.query({ tag: 'iq', attrs, content: [rotate] }), /badly signed/)
  assert.equal(phone.companion.keys.signedPreKey, before)
  assert.equal(network.log.takeProblems().length, 1)
})

test('the client requests an undecryptable message again and then reads it', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  const group = network.group('Team', bob, [phone])
  await using client = await TestClient.online(network, auth)
  bob.text(phone, 'warm up')
  bob.text(group, 'warm up the group')
  await client.textMessage('warm up the group')
  for (const [chat, text] of [
    [phone, 'damaged'],
    [group, 'damaged in the group'],
  ] as const) {
    network.fault({ kind: 'undecryptable' })
    const sent = bob.text(chat, text)
    const stub = await client.message(
      'the stub',
      (one) => one.key.id === sent.id && one.messageStubType === WAMessageStubType.CIPHERTEXT,
    )
    assert.equal(stub.message ?? undefined, undefined)
    await bob.receipts.waitFor('the request', (one) => one.id === sent.id && one.type === 'retry')
    await client.textMessage(text)
  }
})

test('a person requests an undecryptable message from the client again and then reads it', async () => {
  await using network = await SimNetwork.start()
  const { bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  await client.socket.sendMessage(bob.user.pnJid, { text: 'warm up' })
  await bob.messages.waitFor('warm up', (one) => textOfMessage(one.message) === 'warm up')
  bob.device.forgetEverything()
  await client.socket.sendMessage(bob.user.pnJid, { text: 'again please' })
  await bob.undecryptable.waitFor('the failure', () => true)
  await bob.messages.waitFor('again please', (one) => textOfMessage(one.message) === 'again please')
})

test('writing to a person with a new phone does not fail', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  await client.socket.sendMessage(bob.user.pnJid, { text: 'to the old phone' })
  await bob.messages.waitFor('the first', () => true)
  bob.reinstall()
  await network.waitForStanza('ack', (one) => one.attrs.class === 'notification')
  await client.socket.sendMessage(bob.user.pnJid, { text: 'to the new phone' })
  await bob.messages.waitFor('the second', (one) => textOfMessage(one.message) === 'to the new phone')
  assert.equal(bob.undecryptable.length, 0)
  bob.text(phone, 'from the new phone')
  await client.textMessage('from the new phone')
})

test('a connection that drops on a receipt leaves the message unacknowledged', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  network.fault({ kind: 'drop_on', tag: 'receipt', nth: 2 })
  {
    await using client = await TestClient.online(network, auth)
    bob.text(phone, 'first')
    await client.textMessage('first')
    bob.text(phone, 'second')
    assert.equal(await client.closedWith(), 428)
  }
  const [pending] = phone.companion.books.unacknowledgedIds()
  assert.equal(pending, phone.messages.entries[1]?.id)
})

test('stanzas after the one that drops the connection are lost', async () => {
  await using network = await SimNetwork.start()
  const { bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  await client.socket.sendMessage(bob.user.pnJid, { text: 'before' })
  await bob.messages.waitFor('before', (one) => textOfMessage(one.message) === 'before')
  network.fault({ kind: 'drop_on', tag: 'message' })
  const texts = ['one', 'two', 'three']
  await Promise.allSettled(texts.map((text) => client.socket.sendMessage(bob.user.pnJid, { text })))
  assert.equal(await client.closedWith(), 428)
  await using again = await TestClient.online(network, auth)
  await again.socket.sendMessage(bob.user.pnJid, { text: 'after' })
  await bob.messages.waitFor('after', (one) => textOfMessage(one.message) === 'after')
  assert.deepEqual(
    bob.messages.entries.map((one) => textOfMessage(one.message)),
    ['before', 'after'],
  )
})

test('a message that is delivered twice is emitted once', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  bob.text(phone, 'warm up')
  await client.textMessage('warm up')
  network.fault({ kind: 'duplicate' })
  bob.text(phone, 'twice')
  bob.text(phone, 'after')
  await client.textMessage('after')
  const stanzas = network.log.find({ tag: 'message' }).filter((one) => one.direction === 'out')
  assert.equal(stanzas.length, 4)
  assert.equal(client.messages().filter((one) => textOf(one) === 'twice').length, 1)
})

test('messages that are delivered out of order are all read', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  bob.text(phone, 'warm up')
  await client.textMessage('warm up')
  network.fault({ kind: 'reorder', count: 3 })
  for (const text of ['one', 'two', 'three']) bob.text(phone, text)
  await client.textMessage('one')
  assert.deepEqual(client.messages().map(textOf), ['warm up', 'three', 'two', 'one'])
})

test('messages of several accounts that are delivered out of order reach their own clients', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  const carl = network.account({ phone: '5511999990002', name: 'Carl' })
  await using one = await TestClient.online(network, auth)
  await using two = await TestClient.linked(network, carl)
  network.fault({ kind: 'reorder', count: 3 })
  bob.text(phone, 'to Ana')
  bob.text(carl, 'to Carl')
  bob.text(phone, 'to Ana again')
  await one.textMessage('to Ana')
  await two.textMessage('to Carl')
  assert.deepEqual(one.messages().map(textOf), ['to Ana again', 'to Ana'])
  assert.deepEqual(two.messages().map(textOf), ['to Carl'])
})

test('a message with a lost receipt stays unacknowledged and is delivered again at the next login', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  network.fault({ kind: 'lost_receipt' })
  const sent = bob.text(phone, 'confirm me')
  {
    await using client = await TestClient.online(network, auth)
    await client.textMessage('confirm me')
    await network.waitForStanza('receipt', (one) => one.attrs.id === sent.id)
  }
  assert.deepEqual(phone.companion.books.unacknowledgedIds(), [sent.id])
  await using again = await TestClient.online(network, auth)
  await network.waitForStanza('ack', (one) => one.attrs.id === sent.id)
  assert.equal(
    again.messages().some((one) => textOf(one) === 'confirm me'),
    false,
  )
  assert.equal(phone.companion.books.redelivered, 2)
  // The stock client has used up the key and answers with an error, which settles nothing.
  assert.deepEqual(phone.companion.books.unacknowledgedIds(), [sent.id])
})

test('every one-time prekey is handed out once', async () => {
  await using network = await SimNetwork.start()
  const { phone, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  const people = Array.from({ length: 12 }, (_, n) => network.person({ phone: `55118888901${n + 10}` }))
  for (const person of people) person.text(phone, `hi from ${person.user.phone}`)
  for (const person of people) await client.textMessage(`hi from ${person.user.phone}`)
  assert.equal(phone.companion.bundlesHandedOut, 12)
  assert.equal(phone.companion.keys.preKeys.length, 18)
})

test('a client with few one-time prekeys left is told and uploads new ones', async () => {
  await using network = await SimNetwork.start()
  const { phone, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  const people = Array.from({ length: 26 }, (_, n) => network.person({ phone: `55118888901${n + 10}` }))
  for (const person of people) person.text(phone, 'hi')
  await client.textMessage('hi')
  await network.waitForStanza('iq', ({ attrs }) => attrs.xmlns === 'encrypt' && attrs.type === 'set')
  await network.waitForStanza('ack', ({ attrs }) => attrs.class === 'notification' && attrs.type === 'encrypt')
  assert.equal(phone.companion.keys.preKeys.length, 30 - 26 + 5)
})
