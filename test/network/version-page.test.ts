// The page that names the newest client version is read directly or through a proxy, never around the proxy.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { Egress } from '../../src/lib/egress/egress.ts'
import { publicOnly } from '../../src/lib/egress/policy.ts'
import { createProxyAgent } from '../../src/network/connection/proxy-agent.ts'
import { findRevision } from '../../src/network/version/version-numbers.ts'
import { VersionPage } from '../../src/network/version/version-page.ts'
import { LoopbackServer } from '../harness/loopback-server.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'
import { settingsFor } from './harness/network-room.ts'
import { Proxy } from './harness/proxies.ts'
import { Relay } from './harness/relay.ts'

const never = new AbortController().signal
const ways = {
  directly: () => Promise.resolve(undefined),
  'through an http proxy': () => Proxy.http(),
  'through a socks5 proxy': () => Proxy.socks(),
}

class Reader {
  readonly #egress: Egress
  readonly #page: VersionPage

  constructor(url: string, { proxy, clock = systemClock }: { proxy?: string | undefined; clock?: Clock } = {}) {
    this.#egress = new Egress({ policy: publicOnly(), clock })
    const agent = proxy === undefined ? undefined : createProxyAgent(proxy)
    this.#page = new VersionPage({ url, egress: this.#egress, agent, clock })
  }

  read(): Promise<string> {
    return this.#page.read(never)
  }

  reach(): Promise<void> {
    return this.#page.reach(never)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#egress[Symbol.asyncDispose]()
  }
}

for (const [way, start] of Object.entries(ways)) {
  test(`the page is read ${way}`, async () => {
    await using sim = await SimNetwork.start()
    await using proxy = await start()
    sim.versions.newest = 1_055_000_001
    await using reader = new Reader(sim.url, { proxy: proxy?.url })
    assert.equal(findRevision(await reader.read()), 1_055_000_001)
    assert.equal(proxy?.targets.length ?? 0, proxy ? 1 : 0)
    sim.versions.newest = undefined
    await assert.rejects(reader.read(), /status 503/)
  })

  test(`a host that answers with any status can be reached, ${way}; one that is gone cannot`, async () => {
    await using proxy = await start()
    const server = await LoopbackServer.start((request, response) => {
      response.writeHead(request.method === 'HEAD' ? 503 : 500).end()
    })
    await using reader = new Reader(server.url('127.0.0.1', '/').replace('http', 'ws'), { proxy: proxy?.url })
    await reader.reach()
    await server[Symbol.asyncDispose]()
    await assert.rejects(reader.reach())
    assert.equal(proxy?.targets.length ?? 0, proxy ? 2 : 0)
  })

  test(`a page without an end is given up, ${way}`, async () => {
    await using server = await LoopbackServer.start((_, response) => {
      const flood = () => {
        while (response.write(Buffer.alloc(65_536, 'x')));
        response.once('drain', flood)
      }
      flood()
    })
    await using proxy = await start()
    await using reader = new Reader(server.url('127.0.0.1', '/').replace('http', 'ws'), { proxy: proxy?.url })
    await assert.rejects(reader.read())
  })

  test(`a server that does not answer is given up after 10 s, ${way}`, async () => {
    const clock = new ManualClock()
    await using server = await LoopbackServer.start(() => undefined)
    await using proxy = await start()
    await using reader = new Reader(server.url('127.0.0.1', '/').replace('http', 'ws'), { proxy: proxy?.url, clock })
    const failed = assert.rejects(reader.read(), /within 10 s|took longer than it may/)
    await waitUntil('the question has come', () => server.requests === 1)
    await clock.advance(10_000)
    await failed
  })
}

test('a proxy that is gone fails the question, and nothing goes around it', async () => {
  for (const start of [() => Proxy.http(), () => Proxy.socks()]) {
    await using sim = await SimNetwork.start()
    await using relay = await Relay.to(sim.url)
    const gone = await start()
    const { url: proxy } = gone
    await gone[Symbol.asyncDispose]()
    await using bed = await Bed.open({ network: { settings: { ...settingsFor(sim), url: relay.url, proxy } } })
    assert.equal(await (await bed.network.version.take()).refused(), 'none')
    assert.equal(
      bed.logs.withMessage('the newest client version could not be asked for; the known one stays in use').length,
      1,
    )
    assert.deepEqual([relay.count, sim.versions.questions], [0, 0])
  }
})
