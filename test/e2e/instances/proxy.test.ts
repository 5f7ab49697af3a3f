// An instance with its own proxy uses that proxy for everything, and never goes around it.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { DEFAULT_CONNECTION_CONFIG } from 'baileys'
import { assertRefused } from '../../harness/assertions.ts'
import { attach, textFile } from '../../harness/agent-files.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { owner } from '../../harness/instance-api.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import type { WorldOptions } from '../../harness/world.ts'
import { Proxy } from '../../network/harness/proxies.ts'

const secret = { user: 'canary-user', password: 'canary/pass word' }
const canary = /canary/

const proxies = [
  ['an http', (credentials?: typeof secret) => Proxy.http(credentials)],
  ['a socks5', (credentials?: typeof secret) => Proxy.socks(credentials)],
] as const

/** The chat server has a name that only the proxies of the tests know: nothing reaches it without a proxy. */
async function openHidden(options: WorldOptions = {}): Promise<World> {
  const world = await World.unlinked(options)
  await world.restartService(hidden(world))
  return world
}

const hidden = ({ network }: World) => ({ SERVICE_NETWORK_URL: network.url.replace('127.0.0.1', 'chat.invalid') })
const chatHost = ({ network }: World) => `chat.invalid:${new URL(network.url).port}`

/** The address of a proxy that is gone. */
async function goneProxy(): Promise<Proxy> {
  const proxy = await Proxy.http(secret)
  const { url, host, shown } = proxy
  await proxy[Symbol.asyncDispose]()
  return { url, host, shown } as Proxy
}

/** Everything that the service says to people: answers, logs, metrics and the audit log. */
async function everythingSaid(world: World): Promise<string> {
  const paths = ['/api/instances', '/api/instances/a', '/api/instances/bulk/status', '/api/audit', '/api/health']
  const answers = await Promise.all([...paths, '/metrics'].map(async (path) => (await world.service.get(path)).text))
  return [...answers, ...world.service.logs.lines].join('\n')
}

for (const [name, start] of proxies) {
  for (const engine of drawnEngines(import.meta.url)) {
    describe(`${name} proxy of an instance, on ${engine}`, () => {
      test('carries the pairing, the connection and the received files, also after a restart', async () => {
        await using proxy = await start(secret)
        await using world = await openHidden({ engine })
        const phone = await world.pair('a', owner, { network_proxy: proxy.url })
        assert.equal((await world.detail('a')).network_proxy, proxy.shown)
        await world.restartService(hidden(world))
        await world.reaches('a', 'ready')
        const person = world.network.person({ phone: '5511888880001' })
        const sent = person.media(phone, 'image', { bytes: randomBytes(70_001) })
        const { files } = await world.arrived(sent)
        assert.equal(files.length, 1)
        assert.deepEqual(new Set(proxy.targets), new Set([chatHost(world), world.network.media.host]))
        assert.equal(proxy.refused, 0)
        assert.doesNotMatch(await everythingSaid(world), canary)
      })
    })
  }

  test(`${name} proxy that is set while the instance is ready carries what follows, sent files too`, async () => {
    await using proxy = await start(secret)
    await using world = await AgentWorld.open()
    const { status, body } = await world.patch('n0', { network_proxy: proxy.url })
    assert.deepEqual([status, (body as { state: string }).state], [200, 'connecting'])
    assert.equal((await world.reaches('n0', 'ready')).network_proxy, proxy.shown)
    await attach(world, 'see', [textFile('a.txt', 'the file')])
    await waitUntil('the file has arrived', () => world.bob.messages.length === 1)
    assert.deepEqual(proxy.targets, [new URL(world.network.url).host, world.network.media.host])
  })

  test(`${name} proxy with another password takes nothing, and the reason names its host only`, async () => {
    await using proxy = await start(secret)
    await using world = await openHidden()
    await world.create({ name: 'a', network_proxy: proxy.url.replace('canary%2Fpass', 'canary-wrong') })
    await waitUntil('the reason is shown', async () => (await world.detail('a')).last_error !== null)
    const { last_error: reason, qr } = await world.detail('a')
    assert.match(
      reason ?? '',
      new RegExp(
        `\\(.*(407|[Aa]uthentication).*, through the proxy ${proxy.host}\\. What to do: check that the proxy runs`,
      ),
    )
    assert.deepEqual([qr.available, proxy.targets], [false, []])
    assert.ok(proxy.refused > 0)
    assert.doesNotMatch(await everythingSaid(world), canary)
  })
}

test('a refused version is asked for through the proxy of the instance', async () => {
  await using proxy = await Proxy.http()
  await using world = await openHidden()
  await world.pair('a', owner, { network_proxy: proxy.url })
  const { versions } = world.network
  const newest = DEFAULT_CONNECTION_CONFIG.version[2] + 1000
  Object.assign(versions, { newest, oldest: newest })
  await world.network.strike({ kind: 'drop' })
  await waitUntil('a login with the newest version', () => versions.seen.at(-1) === newest)
  await world.reaches('a', 'ready')
})

test('an instance whose proxy is gone does not connect at all, and connects at once through the next proxy', async () => {
  const gone = await goneProxy()
  await using proxy = await Proxy.http()
  // The clock stands still, so that no attempt is made after a pause.
  const clock = new ManualClock()
  await using world = await World.unlinked({ clock })
  await world.pair('a')
  const { loginAttempts } = world.network
  await world.patch('a', { network_proxy: gone.url })
  const down = await world.reaches('a', 'disconnected')
  assert.match(
    down.last_error ?? '',
    new RegExp(`ECONNREFUSED.*through the proxy ${gone.host}\\. What to do: .*network_proxy`),
  )
  for (let n = 0; n < 5; n++) await clock.advance(10_000)
  assert.equal(world.network.loginAttempts, loginAttempts)
  await world.reaches('a', 'disconnected')
  await world.patch('a', { network_proxy: proxy.url })
  await world.reaches('a', 'ready')
  assert.equal((await world.detail('a')).last_error, null)
  assert.equal(proxy.targets.length, 1)
})

test('the same proxy again changes nothing; without one, the proxy of the service is used again', async () => {
  await using shared = await Proxy.http()
  await using proxy = await Proxy.socks(secret)
  await using world = await openHidden()
  await world.restartService({ ...hidden(world), SERVICE_NETWORK_PROXY: shared.url })
  await waitUntil('the version was asked for', () => shared.targets.length === 1)
  await world.pair('a', owner, { network_proxy: proxy.url })
  const logins = world.network.loginAttempts
  for (const same of [proxy.url, `${proxy.url}/`]) {
    assert.equal((await world.patch('a', { network_proxy: same, spamguard_enabled: true })).status, 200)
    assert.equal((await world.detail('a')).state, 'ready')
  }
  assert.equal((await world.create({ name: 'a', network_proxy: proxy.url })).status, 200)
  assert.deepEqual([world.network.loginAttempts, shared.targets.length], [logins, 1])
  for (const nothing of [null, '']) {
    await world.patch('a', { network_proxy: proxy.url })
    await world.reaches('a', 'ready')
    const before = shared.targets.length
    assert.equal((await world.patch('a', { network_proxy: nothing })).status, 200)
    assert.equal((await world.detail('a')).network_proxy, null)
    await world.reaches('a', 'ready')
    assert.equal(shared.targets.length, before + 1)
  }
  await waitUntil('the tunnels of the own proxy are closed', () => proxy.open === 0)
})

test('an open pairing starts again through the new proxy', async () => {
  await using first = await Proxy.http()
  await using second = await Proxy.http()
  await using world = await openHidden()
  await world.create({ name: 'a', network_proxy: first.url })
  const before = await world.qrText('a')
  await world.patch('a', { network_proxy: second.url })
  const phone = world.network.account({ phone: owner })
  await phone.scan(await world.qrText('a', before))
  await world.reaches('a', 'ready')
  assert.deepEqual([first.targets.length, second.targets.length], [1, 2])
  await waitUntil('the tunnels of the first proxy are closed', () => first.open === 0)
})

test('another proxy does not shorten the pause of a ban', async () => {
  await using proxy = await Proxy.http()
  const clock = new ManualClock()
  await using world = await World.unlinked({ clock })
  await world.pair('a')
  world.network.fault({ kind: 'login_failure', code: 402, times: 1, ban: { code: 101, expire: 3600 } })
  await world.network.strike({ kind: 'drop', account: owner })
  await world.reaches('a', 'disconnected')
  await clock.advance(2000)
  await waitUntil('the ban is known', async () => /banned/.test((await world.detail('a')).last_error ?? ''))
  await world.patch('a', { network_proxy: proxy.url })
  await clock.advance(60_000)
  assert.deepEqual([(await world.detail('a')).state, proxy.targets], ['disconnected', []])
  const { database } = world.service
  const [ban] = await database.read(database.query.selectFrom('instances').select('retry_at'))
  await clock.advance(Number(ban?.retry_at) - clock.now())
  await world.reaches('a', 'ready')
  assert.equal(proxy.targets.length, 1)
})

for (const engine of drawnEngines(import.meta.url)) {
  test(`a deleted instance is logged out through its proxy, and so is a kept session, on ${engine}`, async () => {
    await using proxy = await Proxy.http(secret)
    const clock = new LeapingClock()
    await using world = await openHidden({ engine, clock })
    const phone = await world.pair('a', owner, { network_proxy: proxy.url })
    await world.network.goAway()
    const asked = world.service.request('DELETE', '/api/instances/a?logout=true')
    await world.reaches('a', 'logged_out')
    await clock.advance(5000)
    assert.equal((await asked).status, 200)
    await world.stop()
    await world.network.comeBack()
    await world.restartService(hidden(world))
    await waitUntil('the phone forgets the device', () => phone.companions.length === 0)
    // The second time the session is kept, and a logout of its name gives it up.
    await world.pair('a', owner, { network_proxy: proxy.url })
    await world.service.request('DELETE', '/api/instances/a')
    await world.create({ name: 'a' })
    await world.service.request('DELETE', '/api/instances/a?logout=true')
    await waitUntil('the phone forgets the device', () => phone.companions.length === 0)
  })

  test(`a resumed session goes on through its proxy unless the request names another, on ${engine}`, async () => {
    await using first = await Proxy.http(secret)
    await using second = await Proxy.http()
    await using world = await openHidden({ engine })
    await world.pair('a', owner, { network_proxy: first.url })
    const remove = () => world.service.request('DELETE', '/api/instances/a')
    await remove()
    await world.create({ name: 'a', resume: true })
    assert.equal((await world.reaches('a', 'ready')).network_proxy, first.shown)
    await remove()
    await world.create({ name: 'a', resume: true, network_proxy: second.url })
    assert.equal((await world.reaches('a', 'ready')).network_proxy, second.shown)
    assert.equal(second.targets.length, 1)
  })
}

test('the stored proxy is encrypted, and another key refuses the start', async () => {
  const SERVICE_ENCRYPTION_KEY = randomBytes(32).toString('base64')
  await using world = await World.unlinked({ engine: 'sqlite', environment: { SERVICE_ENCRYPTION_KEY } })
  const gone = await goneProxy()
  await world.create({ name: 'a', network_proxy: gone.url })
  await world.stop()
  assert.doesNotMatch((await readFile(world.service.databasePath)).toString('latin1'), canary)
  await assert.rejects(
    world.restartService({ SERVICE_ENCRYPTION_KEY: randomBytes(32).toString('base64') }),
    /SERVICE_ENCRYPTION_KEY does not open what is stored in instances\.network_proxy/,
  )
  await world.restartService()
  assert.equal((await world.detail('a')).network_proxy, gone.shown)
})

const badProxies: readonly unknown[] = [
  ...[
    'proxy.example:8080',
    'ftp://canary:canary@proxy',
    'socks4://proxy',
    'http://',
    'http://canary:canary@',
    'http:x',
  ],
  ...['http://canary:can/ary@proxy', 'http://proxy/canary', 'http://proxy:0', 'http://canary:%zz@proxy', ' '],
  ...[`http://canary${'x'.repeat(2048)}`, 5, true, {}, ['http://proxy'], { url: 'http://proxy' }],
]
const badLimits: readonly unknown[] = [-1, 1.5, 100_001, '10', true, [], {}, 1e300]

test('what is not a proxy or a limit is refused with a sentence that repeats no password, and changes nothing', async () => {
  await using world = await World.unlinked()
  const set = { network_proxy: 'http://user:pass@proxy.example:8080', outgoing_rate_limit: 7 }
  await world.create({ name: 'a', ...set })
  const bad = [
    ...badProxies.map((network_proxy) => ({ network_proxy })),
    ...badLimits.map((outgoing_rate_limit) => ({ outgoing_rate_limit })),
  ]
  for (const body of bad) {
    const [field = ''] = Object.keys(body)
    for (const answer of [await world.patch('a', body), await world.create({ name: 'b', ...body })]) {
      assertRefused(answer, 'SERVICE_BAD_REQUEST', new RegExp(field))
      assert.doesNotMatch(answer.text, canary)
    }
  }
  const { network_proxy, outgoing_rate_limit } = await world.detail('a')
  assert.deepEqual([network_proxy, outgoing_rate_limit], ['http://proxy.example:8080', 7])
  assertRefused(await world.service.get('/api/instances/b'), 'SERVICE_INSTANCE_NOT_FOUND')
  assertRefused(await world.patch('nobody', set), 'SERVICE_INSTANCE_NOT_FOUND')
})
