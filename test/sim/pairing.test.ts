// Checks pairing, login and logout with the real client.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { memoryAuth } from './harness/memory-auth.ts'
import { TestClient } from './harness/test-client.ts'

test('a client whose QR code the phone scans is linked, restarted and logged in', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001', name: 'Ana' })
  const auth = memoryAuth()
  {
    await using client = new TestClient(network, auth)
    await phone.scan(await client.qr())
    assert.equal(await client.closedWith(), 515)
  }
  assert.equal(auth.creds.me?.id, '5511999990001:1@s.whatsapp.net')
  assert.equal(auth.creds.me.lid, `${phone.user.lid}:1@lid`)
  await using client = new TestClient(network, auth)
  await client.event('connection.update', 'connection open', (data) => data.connection === 'open')
  assert.equal(phone.companion.isConnected, true)
  assert.equal(phone.companion.keys.preKeys.length + phone.companion.bundlesHandedOut, 812)
})

test('QR codes are renewed within the pairing window, and the client gives up after the last one', async () => {
  await using network = await SimNetwork.start({ qrRefs: 3, qrRotationMs: 100 })
  await using client = new TestClient(network, memoryAuth(), { qrTimeout: 50 })
  assert.equal(await client.closedWith(), 408)
  const codes = client.events.entries.flatMap((one) =>
    one.name === 'connection.update' && one.data.qr !== undefined ? [one.data.qr] : [],
  )
  assert.equal(new Set(codes).size, 3)
})

test('an old QR code cannot be scanned, its successor can', async () => {
  // The second code is shown when the first one is over, and is valid for a second more.
  await using network = await SimNetwork.start({ qrRotationMs: 1000 })
  const phone = network.account({ phone: '5511999990001' })
  await using client = new TestClient(network, memoryAuth(), { qrTimeout: 3100 })
  const first = await client.qr()
  const isNext = (data: { qr?: string }): boolean => data.qr !== undefined && data.qr !== first
  const { qr: second = '' } = await client.event('connection.update', 'the next QR code', isNext)
  await assert.rejects(phone.scan(first), /not valid/)
  await phone.scan(second)
  assert.equal(await client.closedWith(), 515)
})

test('a QR code of a closed connection cannot be scanned', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001' })
  const client = new TestClient(network)
  const qr = await client.qr()
  await client[Symbol.asyncDispose]()
  await assert.rejects(phone.scan(qr), /not valid/)
})

test('a client is linked by the code it shows, and a wrong code is refused', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001' })
  const auth = memoryAuth()
  {
    await using client = new TestClient(network, auth)
    await client.qr()
    const code = await client.socket.requestPairingCode('5511999990001')
    await assert.rejects(phone.link(code.startsWith('A') ? 'BBBBBBBB' : 'AAAAAAAA'), /code is wrong/)
    await phone.link(code)
    assert.equal(await client.closedWith(), 515)
  }
  await using client = new TestClient(network, auth)
  await client.event('connection.update', 'connection open', (data) => data.connection === 'open')
  assert.equal(client.socket.user?.id, '5511999990001:1@s.whatsapp.net')
})

test('ready credentials log in without pairing and upload no prekeys', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001', name: 'Ana' })
  await using client = await TestClient.linked(network, phone)
  assert.equal(client.socket.user?.id, '5511999990001:1@s.whatsapp.net')
  assert.equal(phone.companion.keys.preKeys.length, 30)
})

test('a client that the phone unlinks loses its session for good', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001' })
  const auth = memoryAuth(network.linkReady(phone))
  {
    await using client = await TestClient.online(network, auth)
    phone.unlink()
    assert.equal(await client.closedWith(), 401)
  }
  await using again = new TestClient(network, auth)
  assert.equal(await again.closedWith(), 401)
  assert.equal(phone.companions.length, 0)
})

test('credentials with a key that the linked device does not have cannot log in', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001' })
  const { creds, keys } = network.linkReady(phone)
  const { noiseKey } = network.linkReady(phone).creds
  await using client = new TestClient(network, memoryAuth({ creds: { ...creds, noiseKey }, keys }))
  assert.equal(await client.closedWith(), 401)
})

test('a client that logs out is no longer a device of the account', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001' })
  await using client = await TestClient.linked(network, phone)
  await client.socket.logout()
  await phone.companionEvents.waitFor('the companion unlinked', (one) => one.state === 'unlinked')
  assert.equal(await client.closedWith(), 401)
  assert.equal(phone.companions.length, 0)
})

test('a second login of the same device replaces the first', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001' })
  const auth = memoryAuth(network.linkReady(phone))
  await using first = await TestClient.online(network, auth)
  await using second = await TestClient.online(network, auth)
  assert.equal(await first.closedWith(), 440)
  assert.equal(second.socket.ws.isOpen, true)
})

test("the client's keep-alive gets an answer", async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001' })
  await using client = await TestClient.linked(network, phone, { keepAliveIntervalMs: 50 })
  await client.socket.waitForMessage('never', 200).catch(() => undefined)
  assert.ok(network.log.find({ tag: 'iq' }).some((one) => one.direction === 'in' && one.attrs.xmlns === 'w:p'))
  assert.equal(client.socket.ws.isOpen, true)
})

test('an unknown query is answered with an error and fails the test that sent it', async () => {
  const network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001' })
  await using client = await TestClient.linked(network, phone)
  const iq = { tag: 'iq', attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'w:unheard' } }
  await assert.rejects(client.socket.query(iq), /feature-not-implemented/)
  await assert.rejects(async () => network[Symbol.asyncDispose](), /did not understand[^]*w:unheard/)
})

test('a test can answer a query, and a handler that returns null passes it on', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001' })
  await using client = await TestClient.linked(network, phone)
  const remove = network.router.override('blocklist get', () => [
    { tag: 'list', attrs: {}, content: [{ tag: 'item', attrs: { jid: '1@s.whatsapp.net' } }] },
  ])
  network.router.override('blocklist get', () => null)
  assert.deepEqual(await client.socket.fetchBlocklist(), ['1@s.whatsapp.net'])
  remove()
  assert.deepEqual(await client.socket.fetchBlocklist(), [])
})
