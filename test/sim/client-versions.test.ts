// The versions of clients that the server accepts, the page that names the newest one, and the request for a passkey.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { fetchLatestWaWebVersion, type BinaryNode } from 'baileys'
import { Agent } from 'undici'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { addCast } from './harness/cast.ts'
import { memoryAuth } from './harness/memory-auth.ts'
import { TestClient } from './harness/test-client.ts'

const browser = { 'sec-fetch-site': 'none', 'user-agent': 'Mozilla/5.0' }

function page(network: SimNetwork): string {
  return network.url.replace('ws:', 'http:').replace('/ws/chat', '/sw.js')
}

test('the library finds the newest version on the page', async () => {
  await using network = await SimNetwork.start()
  network.versions.newest = 1_055_000_001
  const text = await (await fetch(page(network), { headers: browser })).text()
  assert.match(text, /\\"client_revision\\":1055000001/)
  // The library asks the real host. The dispatcher leads its question here.
  const { origin } = new URL(page(network))
  const agent = new Agent()
  const dispatcher = agent.compose((dispatch) => (options, handler) => dispatch({ ...options, origin }, handler))
  const { version, isLatest } = await fetchLatestWaWebVersion({ dispatcher } as object)
  await agent.destroy()
  assert.deepEqual([version, isLatest], [[2, 3000, 1_055_000_001], true])
  assert.equal(network.versions.questions, 2)
})

test('the page is refused to a client that does not look like a browser, and can be unavailable', async () => {
  await using network = await SimNetwork.start()
  assert.equal((await fetch(page(network), { headers: { 'user-agent': 'curl/8' } })).status, 400)
  network.versions.newest = undefined
  assert.equal((await fetch(page(network), { headers: browser })).status, 503)
  assert.equal((await fetch(page(network).replace('sw.js', 'other'))).status, 404)
})

test('a client that is too old is refused with 405, also when it wants to be linked', async () => {
  await using network = await SimNetwork.start()
  const { auth } = addCast(network)
  network.versions.oldest = 1_055_000_000
  for (const credentials of [auth, memoryAuth()]) {
    await using client = new TestClient(network, credentials)
    assert.equal(await client.closedWith(), 405)
  }
  await using client = await TestClient.online(network, auth, { version: [2, 3000, 1_055_000_000] })
  assert.equal(client.socket.ws.isOpen, true)
  assert.deepEqual(network.versions.seen.slice(-1), [1_055_000_000])
})

test('an account with a passkey is asked for it when it is scanned, and is not linked', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001' })
  phone.asksPasskey = true
  const client = new TestClient(network)
  const scanned = assert.rejects(phone.scan(await client.qr()), /hung up/)
  const [request] = (await once(client.socket.ws, 'CB:notification')) as [BinaryNode]
  assert.equal(request.attrs['type'], 'passkey_prologue_request')
  await client[Symbol.asyncDispose]()
  await scanned
  assert.equal(phone.companions.length, 0)
})
