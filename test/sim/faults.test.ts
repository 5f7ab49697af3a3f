// Checks faults with the real client: each fault strikes the client, and no unacknowledged message is lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { addCast } from './harness/cast.ts'
import { TestClient, textOf } from './harness/test-client.ts'

const PING = {
  tag: 'iq',
  attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'w:p' },
  content: [{ tag: 'ping', attrs: {} }],
}

test('a dropped connection closes the client, which gets the missed messages at the next login', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  {
    await using client = await TestClient.online(network, auth)
    bob.text(phone, 'before')
    await client.textMessage('before')
    await network.strike({ kind: 'drop', account: phone.user.phone })
    assert.equal(await client.closedWith(), 428)
  }
  bob.text(phone, 'meanwhile')
  await using client = await TestClient.online(network, auth)
  await client.textMessage('meanwhile')
  assert.deepEqual(client.messages().map(textOf), ['meanwhile'])
})

test('a half-open connection shows only as silence', async () => {
  await using network = await SimNetwork.start()
  const { auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  await network.strike({ kind: 'silence' })
  await assert.rejects(client.socket.query(PING, 150), /Timed Out/)
  assert.equal(client.socket.ws.isOpen, true)
  await network.strike({ kind: 'drop' })
  await client.closedWith()
})

/** When the server sent each message to a client. */
function deliveryTimes(network: SimNetwork): number[] {
  return network.log.find({ tag: 'message' }).flatMap((one) => (one.direction === 'out' ? [one.at] : []))
}

test('a delayed network answers late and in order', async () => {
  const clock = new ManualClock()
  await using network = await SimNetwork.start({ clock })
  const { phone, bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  network.fault({ kind: 'delay', ms: 150 })
  const start = clock.now()
  bob.text(phone, 'slow one')
  bob.text(phone, 'slow two')
  await clock.advance(150)
  await client.textMessage('slow two')
  assert.deepEqual(deliveryTimes(network), [start + 150, start + 150])
  assert.deepEqual(client.messages().map(textOf), ['slow one', 'slow two'])
  network.clearFaults()
})

test('a delayed network delays every stanza equally and still delivers the last one', async () => {
  const clock = new ManualClock()
  await using network = await SimNetwork.start({ clock })
  const { phone, bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  bob.text(phone, 'at once')
  await client.textMessage('at once')
  network.fault({ kind: 'delay', ms: 300 })
  const start = clock.now()
  bob.text(phone, 'first')
  await clock.advance(200)
  bob.text(phone, 'second')
  await clock.advance(300)
  await client.textMessage('second')
  assert.deepEqual(deliveryTimes(network), [start, start + 300, start + 500])
  phone.unlink()
  assert.equal(await client.closedWith(), 401)
})

test('stream errors end the connection with their own code', async () => {
  await using network = await SimNetwork.start()
  const { auth } = addCast(network)
  for (const [reason, code] of [
    ['replaced', 440],
    ['restart', 515],
    [503, 503],
    ['device_removed', 401],
  ] as const) {
    await using client = await TestClient.online(network, auth)
    await network.strike({ kind: 'stream_error', reason })
    assert.equal(await client.closedWith(), code)
  }
})

test('a refused login carries its code, and a ban its reason and its end', async () => {
  await using network = await SimNetwork.start()
  const { auth } = addCast(network)
  for (const code of [401, 402, 403, 405, 409, 411, 500, 503]) {
    network.fault({ kind: 'login_failure', code, ...(code === 402 ? { ban: { code: 101, expire: 3600 } } : {}) })
    await using client = new TestClient(network, auth)
    assert.equal(await client.closedWith(), code)
    if (code !== 402) continue
    const closing = await client.event('connection.update', 'closed', (data) => data.connection === 'close')
    const { data } = closing.lastDisconnect?.error as unknown as { data: Record<string, string> }
    assert.deepEqual([data.code, data.expire], ['101', '3600'])
  }
  await using client = await TestClient.online(network, auth)
  assert.equal(client.socket.ws.isOpen, true)
})

test('a message that is refused with an error is not delivered, and the next one is', async () => {
  await using network = await SimNetwork.start()
  const { bob, auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  for (const code of [463, 479]) {
    network.fault({ kind: 'ack_error', code })
    const refused = await client.socket.sendMessage(bob.user.pnJid, { text: `refused ${code}` })
    assert.equal(await client.acknowledged(refused?.key.id), String(code))
  }
  await client.socket.sendMessage(bob.user.pnJid, { text: 'taken' })
  await bob.messages.waitFor('taken', (one) => textOfMessage(one.message) === 'taken')
  assert.equal(bob.messages.length, 1)
})

test('a fault leaves a query unanswered or makes it fail', async () => {
  await using network = await SimNetwork.start()
  const { auth } = addCast(network)
  await using client = await TestClient.online(network, auth)
  network.fault({ kind: 'query_silence', query: 'w:p get ping' })
  await assert.rejects(client.socket.query(PING, 150), /Timed Out/)
  network.fault({ kind: 'query_error', query: 'w:p get ping', code: 503 })
  await assert.rejects(client.socket.query(PING), { data: 503 })
  await client.socket.query(PING)
})

test('a restarted server keeps linked devices and unacknowledged messages', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = addCast(network)
  {
    await using client = await TestClient.online(network, auth)
    await network.restart()
    assert.equal(await client.closedWith(), 428)
  }
  bob.text(phone, 'after the restart')
  await using client = await TestClient.online(network, auth)
  await client.textMessage('after the restart')
})
