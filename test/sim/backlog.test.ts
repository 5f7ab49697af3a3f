// Checks with the unmodified client how the server hands over what waited: in windows, and again until it is acknowledged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ShiftableClock } from '../../sim/shiftable-clock.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { addCast } from './harness/cast.ts'
import { TestClient } from './harness/test-client.ts'

test('a client that asks once gets one window of the backlog, and no message that comes after it', async () => {
  await using network = await SimNetwork.start({ window: 20 })
  const { phone, bob, auth } = addCast(network)
  for (let n = 0; n < 25; n++) bob.text(phone, `waiting ${n}`)
  await using client = new TestClient(network, auth)
  await waitUntil('the window is taken', () => phone.companion.books.size === 5)
  bob.text(phone, 'live')
  assert.equal(phone.companion.books.size, 6)
  assert.equal(phone.companion.live, false)
  await client.socket.sendNode({
    tag: 'ib',
    attrs: {},
    content: [{ tag: 'offline_batch', attrs: { count: '100' } }],
  })
  await client.textMessage('live')
  assert.equal(phone.companion.live, true)
})

test('with a backlog that is overtaken, a new message comes before the rest of it', async () => {
  await using network = await SimNetwork.start({ window: 2, isBacklogOvertaken: true })
  const { phone, bob, auth } = addCast(network)
  for (let n = 0; n < 5; n++) bob.text(phone, `waiting ${n}`)
  await using stack = new AsyncDisposableStack()
  stack.use(new TestClient(network, auth))
  await waitUntil('the window is taken', () => phone.companion.books.size === 3)
  const { id } = bob.text(phone, 'live')
  await waitUntil('the new message is taken', () => !phone.companion.books.unacknowledgedIds().includes(id))
  assert.equal(phone.companion.books.size, 3)
})

test('an error in an acknowledgement does not settle a message, unless the network is told so', async () => {
  for (const nacksSettle of [false, true]) {
    await using network = await SimNetwork.start({ nacksSettle })
    const { phone, bob, auth } = addCast(network)
    bob.answersRetries = false
    network.fault({ kind: 'undecryptable' })
    const { id } = bob.text(phone, 'damaged')
    await using stack = new AsyncDisposableStack()
    stack.use(await TestClient.online(network, auth))
    await network.waitForStanza('ack', ({ attrs }) => attrs.id === id && attrs.error !== undefined)
    await waitUntil('the error is noted', () => phone.companion.books.settled.nack === 1)
    assert.deepEqual(phone.companion.books.unacknowledgedIds(), nacksSettle ? [] : [id])
  }
})

test('a status that the client answers with an error keeps the other messages back at the next login', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  bob.answersRetries = false
  network.fault({ kind: 'undecryptable' })
  const status = bob.status('my day')
  {
    await using stack = new AsyncDisposableStack()
    stack.use(await TestClient.online(network, auth))
    await waitUntil('the status is refused', () => phone.companion.books.refusedStatus !== undefined)
  }
  bob.text(phone, 'waiting')
  const { redelivered } = phone.companion.books
  await using client = new TestClient(network, auth)
  await waitUntil('the status is refused again', () => phone.companion.books.settled.nack === 2)
  assert.equal(phone.companion.books.redelivered, redelivered + 1)
  assert.equal(phone.companion.live, false)
  await client.socket.sendNode({ tag: 'ack', attrs: { id: status.id, class: 'message', to: 'status@broadcast' } })
  await client.textMessage('waiting')
})

test('a status stanza without an acknowledgement ends the stream after 50 minutes', async () => {
  const clock = new ShiftableClock()
  await using network = await SimNetwork.start({ clock })
  const { phone, bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  bob.status('my day', { carrier: 'status' })
  await clock.advance(49 * 60_000)
  assert.equal(phone.companion.isConnected, true)
  await clock.advance(60_000)
  assert.equal(await client.closedWith(), 500)
  assert.equal(phone.companion.books.size, 1)
})

test('an inactive receipt of a client that is not available settles the message and tells its author', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  await using stack = new AsyncDisposableStack()
  stack.use(await TestClient.online(network, auth, { markOnlineOnConnect: false }))
  const { id } = bob.text(phone, 'hello')
  await network.waitForStanza('receipt', ({ attrs }) => attrs.id === id && attrs.type === 'inactive')
  const receipt = await bob.receipts.waitFor('the receipt', (one) => one.id === id && one.device > 0)
  assert.equal(receipt.type, 'delivered')
  assert.equal(phone.companion.books.size, 0)
})
