// Through a proxy or not at all; and what else the settings of the network decide.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { getCACertificates } from 'node:tls'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { createProxyAgent } from '../../src/network/proxy-agent.ts'
import { prepareEndpoint } from '../../src/network/socket-config.ts'
import { Bed, settingsFor, storeLinked } from './harness/bed.ts'
import { Proxy } from './harness/proxies.ts'
import { Relay } from './harness/relay.ts'

const defaults = { url: null, rootKey: null, caFile: '', version: [], proxy: null }

/** By content: the same certificate is listed in several spellings. */
function trusted(): Set<string> {
  return new Set(getCACertificates('default').map((pem) => new X509Certificate(pem).fingerprint256))
}

async function through(proxy: string, work: (bed: Bed, seen: Relay) => Promise<void>): Promise<void> {
  await using sim = await SimNetwork.start()
  await using relay = await Relay.to(sim.url)
  await using bed = await Bed.open({ network: { settings: { ...settingsFor(sim), url: relay.url, proxy } } })
  const phone = sim.account({ phone: '5511999990001' })
  await storeLinked(sim, phone, (writes) => bed.store.save(bed.epoch, 's', writes))
  await work(bed, relay)
}

for (const [name, start] of [
  ['an http', () => Proxy.http()],
  ['a socks5', () => Proxy.socks()],
] as const) {
  test(`a connection goes through ${name} proxy`, async () => {
    await using proxy = await start()
    await through(proxy.url, async (bed, relay) => {
      const line = await bed.online('s')
      await line.session.probe(5_000)
      assert.deepEqual([proxy.used, relay.count], [1, 1])
    })
  })

  test(`${name} proxy that is gone closes the session, and nothing goes around it`, async () => {
    const proxy = await start()
    const { url } = proxy
    await proxy[Symbol.asyncDispose]()
    await through(url, async (bed, relay) => {
      const { cause, reason } = await (await bed.dial('s')).closing()
      assert.equal(cause, 'transient')
      assert.match(reason, /ECONNREFUSED.*proxy/)
      assert.equal(relay.count, 0)
    })
  })
}

test('a proxy of another kind is refused with its reason', () => {
  assert.throws(() => createProxyAgent('ftp://127.0.0.1:1'), /SERVICE_NETWORK_PROXY/)
  assert.throws(() => createProxyAgent('nonsense'), /SERVICE_NETWORK_PROXY/)
})

test('the protocol version is the one of the library unless three numbers say otherwise', () => {
  assert.equal(prepareEndpoint(defaults, 1).version.length, 3)
  assert.deepEqual(prepareEndpoint({ ...defaults, version: ['2', '3000', '7'] }, 1).version, [2, 3000, 7])
})

test('another authority is trusted besides the usual ones', async () => {
  await using sim = await SimNetwork.start()
  const directory = await mkdtemp(join(tmpdir(), 'causeway-ca-'))
  const caFile = join(directory, 'ca.pem')
  await writeFile(caFile, sim.authority.pem)
  const before = trusted()
  for (let twice = 0; twice < 2; twice++) prepareEndpoint({ ...defaults, caFile }, 1)
  const after = trusted()
  assert.equal(after.size, before.size + 1)
  assert.deepEqual(before.difference(after), new Set())
  await rm(directory, { recursive: true })
})
