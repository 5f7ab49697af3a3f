// Through a proxy or not at all; and what else the settings of the network decide.

import assert from 'node:assert/strict'
import { randomBytes, X509Certificate } from 'node:crypto'
import { buffer, text } from 'node:stream/consumers'
import { test } from 'node:test'
import { getCACertificates } from 'node:tls'
import { getHttpStream } from 'baileys'
import type { SocksProxyAgent } from 'socks-proxy-agent'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { FileError } from '../../src/core/network.ts'
import { createProxyAgent } from '../../src/network/connection/proxy-agent.ts'
import { prepareEndpoint, socketConfig } from '../../src/network/connection/socket-config.ts'
import { authorityFile } from '../harness/media-authority.ts'
import { Bed } from './harness/bed.ts'
import { settingsFor, storeLinked } from './harness/network-room.ts'
import { Proxy } from './harness/proxies.ts'
import { Relay } from './harness/relay.ts'
import { holdOf } from '../harness/holds.ts'

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
  await storeLinked(sim, phone, (writes) => bed.store.save(holdOf('a', bed.epoch), 's', writes))
  await work(bed, relay)
}

const proxies = [
  ['an http', () => Proxy.http()],
  ['a socks5', () => Proxy.socks()],
] as const

for (const [name, start] of proxies) {
  test(`a connection goes through ${name} proxy`, async () => {
    await using proxy = await start()
    await through(proxy.url, async (bed, relay) => {
      const line = await bed.online('s')
      await line.session.probe(60_000)
      assert.deepEqual([proxy.targets.length, relay.count], [1, 1])
    })
  })

  test(`${name} proxy that is gone closes the session, and no connection goes around it`, async () => {
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

for (const [name, start] of proxies) {
  test(`a file that the library fetches goes through ${name} proxy, and fails when the proxy is gone`, async () => {
    await using sim = await SimNetwork.start()
    await using proxy = await start()
    await using owned = new AsyncDisposableStack()
    const settings = { ...settingsFor(sim), proxy: proxy.url, caFile: await authorityFile(sim, owned) }
    const endpoint = prepareEndpoint(settings, 1)
    owned.defer(() => endpoint.proxied?.dispatcher.destroy())
    // Of all that a connection is made of, only the endpoint decides the way.
    const { options = {} } = socketConfig({ endpoint, account: {}, creds: {}, connectionKeys: {} } as Parameters<
      typeof socketConfig
    >[0])
    const { url } = sim.media.put(Buffer.from('history'))
    const fetchIt = () => getHttpStream(url, options)
    assert.equal(await text(await fetchIt()), 'history')
    assert.deepEqual(proxy.targets, [sim.media.host])
    await proxy[Symbol.asyncDispose]()
    await assert.rejects(fetchIt(), /fetch failed/)
  })
}

for (const [name, start] of proxies) {
  test(`a received file is fetched through ${name} proxy, and not at all when the proxy is gone`, async () => {
    await using sim = await SimNetwork.start()
    await using proxy = await start()
    await using owned = new AsyncDisposableStack()
    const settings = { ...settingsFor(sim), proxy: proxy.url, caFile: await authorityFile(sim, owned) }
    await using bed = await Bed.open({ network: { settings } })
    const phone = sim.account({ phone: '5511999990001' })
    await storeLinked(sim, phone, (writes) => bed.store.save(holdOf('a', bed.epoch), 's', writes))
    await bed.online('s')
    const bytes = randomBytes(70_001)
    const event = await bed.event(sim.person({ phone: '5511888880001' }).media(phone, 'image', { bytes }).id)
    assert.ok(event.kind === 'message' && event.content.type === 'media')
    const { file } = event.content
    const never = new AbortController().signal
    const before = proxy.targets.length
    assert.deepEqual(await buffer(await bed.network.download('s', file, never)), bytes)
    assert.deepEqual(proxy.targets.slice(before), [sim.media.host])
    await proxy[Symbol.asyncDispose]()
    await assert.rejects(bed.network.download('s', file, never), FileError)
  })
}

test('a proxy of another kind is refused with its reason', () => {
  assert.throws(() => createProxyAgent('ftp://127.0.0.1:1'), /cannot be used: .*http, https or socks5/)
  assert.throws(() => createProxyAgent('nonsense'), /cannot be used: .*http, https or socks5/)
})

test('the address of a socks5 proxy may be one of IPv6', () => {
  const { proxy } = createProxyAgent('socks5://user:secret@[::1]:1080') as unknown as SocksProxyAgent
  assert.deepEqual([proxy.host, proxy.port, proxy.userId], ['::1', 1080, 'user'])
})

for (const [name, start] of proxies) {
  test(`a received file is fetched through ${name} proxy of its instance, and not at all when that is gone`, async () => {
    await using sim = await SimNetwork.start()
    await using shared = await Proxy.http()
    await using proxy = await start()
    const { url } = proxy
    await using owned = new AsyncDisposableStack()
    const settings = { ...settingsFor(sim), proxy: shared.url, caFile: await authorityFile(sim, owned) }
    await using bed = await Bed.open({ network: { settings, proxyOf: () => url } })
    const phone = sim.account({ phone: '5511999990001' })
    await storeLinked(sim, phone, (writes) => bed.store.save(holdOf('a', bed.epoch), 's', writes))
    await bed.online('s')
    const bytes = randomBytes(70_001)
    const event = await bed.event(sim.person({ phone: '5511888880001' }).media(phone, 'image', { bytes }).id)
    assert.ok(event.kind === 'message' && event.content.type === 'media')
    const { file } = event.content
    const never = new AbortController().signal
    assert.deepEqual(await buffer(await bed.network.download('s', file, never)), bytes)
    const { host } = sim.media
    assert.deepEqual([proxy.targets, shared.targets.includes(host)], [[host], false])
    await proxy[Symbol.asyncDispose]()
    await assert.rejects(bed.network.download('s', file, never), FileError)
    assert.equal(shared.targets.includes(host), false)
  })
}

test('another authority is trusted besides the usual ones', async () => {
  await using sim = await SimNetwork.start()
  await using owned = new AsyncDisposableStack()
  const caFile = await authorityFile(sim, owned)
  const before = trusted()
  for (let twice = 0; twice < 2; twice++) prepareEndpoint({ ...defaults, caFile }, 1)
  const after = trusted()
  assert.equal(after.size, before.size + 1)
  assert.deepEqual(before.difference(after), new Set())
})
