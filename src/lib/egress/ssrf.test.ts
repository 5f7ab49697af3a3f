// No address that leads to ourselves or to a metadata service is contacted, however it is written or resolved.

import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import type { RequestListener } from 'node:http'
import type { LookupFunction } from 'node:net'
import { test } from 'node:test'
import { LoopbackServer, loopbackCa } from '../../../test/harness/loopback-server.ts'
import { Egress } from './egress.ts'
import { EgressRefused } from './errors.ts'
import { follow } from './follow.ts'
import { privateAllowed, publicOnly } from './policy.ts'
import type { EgressPolicy } from './policy.ts'

// An unused address: the mixed names must not lead to a real server when the guard is off.
const outside = '203.0.113.7'

const names: Record<string, readonly string[]> = {
  'loopback.example': ['127.0.0.1'],
  'loopback6.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'mixed.example': ['127.0.0.1', '1.1.1.1'],
  'mixed-later.example': ['1.1.1.1', '127.0.0.1'],
  'translated.example': ['64:ff9b::127.0.0.1'],
  'compatible.example': ['::127.0.0.1'],
  'zero.example': ['0.0.0.0'],
  'metadata.example': ['169.254.169.254'],
  'metadata6.example': ['fd00:ec2::254'],
  'localhost.': ['127.0.0.1'],
  localhost: ['127.0.0.1', '::1'],
}

/** What reaches loopback when nothing is in its way. */
const reaching = [
  ...['127.0.0.1', 'localhost', 'localhost.', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0177.0.0.1'],
  ...['0.0.0.0', '[::]', '127.1', '１２７.0.0.1', '127。0。0。1', '127.1.2.3', '[0:0:0:0:0:0:0:1]', '[::ffff:7f00:1]'],
  ...['loopback.example', 'loopback6.example', 'mapped.example', 'mixed.example', 'zero.example'],
]

/** What no kernel here takes to loopback, but must not be tried either. */
const elsewhere = [
  ...['mixed-later.example', 'translated.example', 'compatible.example', 'metadata.example', 'metadata6.example'],
  ...['169.254.169.254', '[fd00:ec2::254]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '2852039166', '[::ffff:a9fe:a9fe]'],
]

const lookup: LookupFunction = (host, _options, answer) => {
  const found = (names[host] ?? [outside]).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  answer(null, found)
}

function clientWith(policy: EgressPolicy, options: { lookup?: LookupFunction } = {}): Egress {
  return new Egress({ policy, ca: loopbackCa, lookup, ...options })
}

async function refusalsOf(egress: Egress, server: LoopbackServer, hosts: readonly string[]): Promise<string[]> {
  const results = hosts.map(async (host) => {
    const error: unknown = await egress.request({ url: server.url(host), timeoutMs: 2000 }).catch((e: unknown) => e)
    return error instanceof EgressRefused && error.message.includes('SERVICE_EGRESS_ALLOW') ? `${host} refused` : host
  })
  return Promise.all(results)
}

for (const protocol of ['http:', 'https:'] as const) {
  test(`over ${protocol} no spelling and no name leads to loopback or metadata`, async () => {
    await using server = await LoopbackServer.start(undefined, { protocol })
    await using egress = clientWith(publicOnly())
    const hosts = [...reaching, ...elsewhere]
    assert.deepEqual(
      await refusalsOf(egress, server, hosts),
      hosts.map((host) => `${host} refused`),
    )
    assert.equal(server.connections, 0)
  })

  test(`over ${protocol} every one of them reaches loopback when the guard is away`, async () => {
    for (const host of reaching) {
      await using server = await LoopbackServer.start(undefined, { protocol })
      await using egress = clientWith(privateAllowed)
      await egress.request({ url: server.url(host), timeoutMs: 2000 }).catch(() => undefined)
      assert.ok(server.connections > 0, `${host} reaches the server`)
    }
  })

  test(`over ${protocol} what the list allows is reached`, async () => {
    for (const allow of ['127.0.0.0/8', '127.0.0.1', 'loopback.example', 'LOOPBACK.example']) {
      await using server = await LoopbackServer.start(undefined, { protocol })
      await using egress = clientWith(publicOnly([allow]))
      // The certificate does not know that name: to have come to the handshake is enough.
      await egress.request({ url: server.url('loopback.example'), timeoutMs: 2000 }).catch(() => undefined)
      assert.equal(server.connections, 1, allow)
      const others = await refusalsOf(egress, server, ['loopback6.example', 'metadata.example'])
      assert.deepEqual(others, ['loopback6.example refused', 'metadata.example refused'])
    }
  })

  test(`over ${protocol} a name that changes its address is judged again`, async () => {
    await using outsideServer = await LoopbackServer.start(undefined, { protocol, host: '127.0.0.2' })
    await using egress = clientWith(publicOnly(['127.0.0.2']), { lookup: rebinding(['127.0.0.2'], ['127.0.0.1']) })
    const request = { url: outsideServer.url('rebinding.example'), timeoutMs: 15_000, headers: { connection: 'close' } }
    const first: unknown = await egress.request(request).catch((error: unknown) => error)
    assert.ok(!(first instanceof EgressRefused))
    assert.equal(outsideServer.connections, 1)
    await assert.rejects(egress.request(request), EgressRefused)
  })
}

function rebinding(...answers: readonly (readonly string[])[]): LookupFunction {
  let asked = 0
  return (_host, _options, answer) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)] ?? []
    answer(
      null,
      addresses.map((address): LookupAddress => ({ address, family: 4 })),
    )
  }
}

for (const protocol of ['http:', 'https:'] as const) {
  test(`over ${protocol} one lookup and one connection serve a request: nothing slips in after the check`, async () => {
    await using server = await LoopbackServer.start(undefined, { protocol })
    let asked = 0
    const counting: LookupFunction = (host, options, answer) => {
      asked += 1
      lookup(host, options, answer)
    }
    await using egress = clientWith(publicOnly(['127.0.0.1', '::1']), { lookup: counting })
    const answer = await egress.request({ url: server.url('localhost'), timeoutMs: 15_000 })
    assert.equal(answer.text(), 'ok')
    assert.deepEqual({ asked, connections: server.connections }, { asked: 1, connections: 1 })
  })
}

test('no policy, list or trust allows link-local and metadata addresses', async () => {
  await using wide = clientWith(publicOnly(['169.254.0.0/16', 'metadata.example', 'fd00::/8', '0.0.0.0/0', '::/0']))
  await using own = clientWith(privateAllowed)
  for (const host of ['169.254.169.254', 'metadata.example', 'metadata6.example', '[fd00:ec2::254]', '2852039166']) {
    const url = `http://${host}/latest/meta-data/`
    for (const egress of [wide, own]) {
      const trusted = egress.request({ url, timeoutMs: 15_000, trustedOrigin: new URL(url).origin })
      await assert.rejects(trusted, EgressRefused)
      await assert.rejects(egress.request({ url, timeoutMs: 2000 }), EgressRefused)
    }
  }
})

test('the trusted origin is reached though it is private; its neighbours are not, and its connections serve no other request', async () => {
  await using server = await LoopbackServer.start()
  await using neighbour = await LoopbackServer.start()
  await using egress = clientWith(publicOnly())
  const trustedOrigin = new URL(server.url()).origin
  const trusted = await egress.request({ url: server.url(), timeoutMs: 15_000, trustedOrigin })
  assert.equal(trusted.text(), 'ok')
  await assert.rejects(egress.request({ url: server.url(), timeoutMs: 2000 }), EgressRefused)
  await assert.rejects(egress.request({ url: neighbour.url(), timeoutMs: 2000, trustedOrigin }), EgressRefused)
  assert.equal(neighbour.connections, 0)
  assert.equal(server.requests, 1)
})

test('a redirect to a forbidden address is refused, and followed when the guard is away', async () => {
  await using victim = await LoopbackServer.start()
  const byHost = (host: string) => victim.url(host, '/secret')
  for (const host of ['127.0.0.1', '2130706433', '[::1]', 'loopback.example', 'mixed.example']) {
    const listener: RequestListener = (_, response) => response.writeHead(302, { location: byHost(host) }).end()
    await using hostile = await LoopbackServer.start(listener, { host: '127.0.0.2' })
    const request = { url: hostile.url('127.0.0.2'), timeoutMs: 2000, route: (url: URL) => ({ url }) }
    await using guarded = clientWith(publicOnly(['127.0.0.2']))
    await assert.rejects(follow(guarded, request), EgressRefused)
    assert.equal(victim.connections, 0, host)
    await using open = clientWith(privateAllowed)
    const answer = await follow(open, request)
    assert.equal(answer.status, 200, host)
    answer.body.destroy()
    victim.connections = 0
  }
})

test('the message of a refusal does not contain the address', async () => {
  await using egress = clientWith(publicOnly())
  const error = await egress.request({ url: 'http://loopback.example/', timeoutMs: 2000 }).catch((e: unknown) => e)
  assert.ok(error instanceof EgressRefused)
  assert.equal(error.outcome, 'not_sent')
  assert.equal(error.host, 'loopback.example')
  assert.equal(error.address, '127.0.0.1')
  assert.ok(!error.message.includes('127.0.0.1'))
})
