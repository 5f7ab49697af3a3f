// Cross-check of faults: each one strikes the real client, and afterwards nothing is lost that the books say is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { memoryAuth, type MemoryAuth } from './harness/memory-auth.ts'
import { TestClient, textOf } from './harness/test-client.ts'

type EventContext = { phone: SimPhone; bob: SimPerson; auth: MemoryAuth }

const PING = {
  tag: 'iq',
  attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'w:p' },
  content: [{ tag: 'ping', attrs: {} }],
}

function scene(network: SimNetwork): EventContext {
  const phone = network.account({ phone: '5511999990001', lid: '100000000000001', name: 'Ana' })
  const bob = network.person({ phone: '5511888880001', lid: '200000000000001', pushName: 'Bob' })
  return { phone, bob, auth: memoryAuth(network.linkReady(phone)) }
}

test('a dropped connection closes the client, which finds what it missed at the next login', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = scene(network)
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

test('a half-open connection is noticed only by the silence', async () => {
  await using network = await SimNetwork.start()
  const { auth } = scene(network)
  await using client = await TestClient.online(network, auth)
  await network.strike({ kind: 'silence' })
  await assert.rejects(client.socket.query(PING, 150), /Timed Out/)
  assert.equal(client.socket.ws.isOpen, true)
  await network.strike({ kind: 'drop' })
  await client.closedWith()
})

test('a delayed network answers late and in order', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = scene(network)
  await using client = await TestClient.online(network, auth)
  network.fault({ kind: 'delay', ms: 150 })
  const start = Date.now()
  bob.text(phone, 'slow one')
  bob.text(phone, 'slow two')
  await client.textMessage('slow two')
  assert.ok(Date.now() - start >= 140)
  assert.deepEqual(client.messages().map(textOf), ['slow one', 'slow two'])
  network.clearFaults()
})

test('everything on a delayed network is equally late, and a last word is still heard', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = scene(network)
  await using client = await TestClient.online(network, auth)
  bob.text(phone, 'at once')
  await client.textMessage('at once')
  network.fault({ kind: 'delay', ms: 300 })
  bob.text(phone, 'first')
  await new Promise((resolve) => setTimeout(resolve, 200))
  const start = Date.now()
  bob.text(phone, 'second')
  await client.textMessage('second')
  assert.ok(Date.now() - start >= 290)
  phone.unlink()
  assert.equal(await client.closedWith(), 401)
})

test('stream errors end the connection with their own code', async () => {
  await using network = await SimNetwork.start()
  const { auth } = scene(network)
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

test('a refused login carries its code, a ban its reason and its end', async () => {
  await using network = await SimNetwork.start()
  const { auth } = scene(network)
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

test('a message refused with an error is not delivered, the next one is', async () => {
  await using network = await SimNetwork.start()
  const { bob, auth } = scene(network)
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

test('a query can be left unanswered or fail', async () => {
  await using network = await SimNetwork.start()
  const { auth } = scene(network)
  await using client = await TestClient.online(network, auth)
  network.fault({ kind: 'query_silence', query: 'w:p get ping' })
  await assert.rejects(client.socket.query(PING, 150), /Timed Out/)
  network.fault({ kind: 'query_error', query: 'w:p get ping', code: 503 })
  await assert.rejects(client.socket.query(PING), { data: 503 })
  await client.socket.query(PING)
})

test('a restarted server remembers who is linked and what is owed', async () => {
  await using network = await SimNetwork.start()
  const { phone, bob, auth } = scene(network)
  {
    await using client = await TestClient.online(network, auth)
    await network.restart()
    assert.equal(await client.closedWith(), 428)
  }
  bob.text(phone, 'after the restart')
  await using client = await TestClient.online(network, auth)
  await client.textMessage('after the restart')
})
