// WhatsApp cannot be reached: the log and health say why and what to do, once for all accounts with the same cause.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FastClock } from '../../harness/fast-clock.ts'
import type { Detail } from '../../harness/instance-api.ts'
import { seedLinked } from '../../harness/linked-seed.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const warnings = ({ logs }: Service) => logs.withMessage('WhatsApp cannot be reached')
const ends = ({ logs }: Service) => logs.withMessage('WhatsApp is reached again')

test('many accounts, one cause: one warning, one line when it is over, and health names the accounts meanwhile', async () => {
  await using world = await World.open({ accounts: 12, clock: new FastClock(3) })
  const names = Array.from({ length: 12 }, (_, index) => `n${index}`).toSorted()
  await world.network.goAway()
  const unreachable = async () => (await world.health()).checks.network_unreachable
  await waitUntil('every account has failed several times', async () => {
    const details = (await world.service.get('/api/instances/bulk/status')).body as Detail[]
    return details.every(({ reconnect_attempts }) => reconnect_attempts >= 4)
  })
  const [outage, ...others] = await unreachable()
  assert.deepEqual(others, [])
  assert.deepEqual([outage?.reason, outage?.instances.toSorted()], ['refused', names])
  assert.equal(outage?.sentence, 'the connection was refused (ECONNREFUSED)')
  assert.match(outage.cure, /SERVICE_NETWORK_URL/)
  assert.equal((await world.health()).status, 'degraded')
  const [warning, ...more] = warnings(world.service)
  assert.deepEqual([warning?.['reason'], warning?.['cure'], more], ['refused', outage.cure, []])
  await world.network.comeBack()
  await waitUntil('every account is back', async () => (await unreachable()).length === 0)
  assert.equal(ends(world.service).length, 1)
  assert.ok(Number(ends(world.service)[0]?.['seconds']) > 0)
})

const endpoints = [
  ['a name that does not exist', 'ws://chat.invalid:9/', 'dns', /^the host name was not found \(E/],
  ['a port that no server listens at', 'ws://127.0.0.1:9/', 'refused', /^the connection was refused \(ECONNREFUSED\)$/],
] as const

for (const [what, url, reason, sentence] of endpoints) {
  test(`SERVICE_NETWORK_URL with ${what}: a failed pairing is a warning, and health stays ok`, async () => {
    await using world = await World.unlinked()
    await world.restartService({ SERVICE_NETWORK_URL: url })
    await world.create({ name: 'a' })
    await waitUntil('the warning is written', () => warnings(world.service).length > 0)
    const [warning] = warnings(world.service)
    assert.deepEqual([warning?.['level'], warning?.['instance'], warning?.['reason']], [40, 'a', reason])
    assert.match(String(warning?.['sentence']), sentence)
    assert.match(String(warning?.['cure']), /SERVICE_NETWORK_URL/)
    assert.match((await world.detail('a')).last_error ?? '', /What to do: check SERVICE_NETWORK_URL/)
    assert.equal((await world.health()).status, 'ok')
  })
}

test('an account whose session cannot connect degrades health, and its deletion ends that', async () => {
  await using world = await World.unlinked()
  const environment = { SERVICE_NETWORK_URL: 'ws://127.0.0.1:9/' }
  await using service = await Service.start({
    environment,
    seed: async (database) => {
      await seedLinked(database, world.network, 1)
    },
  })
  type Checks = { status: string; checks: { network_unreachable: { instances: string[] }[] } }
  const health = async () => (await service.get('/api/health')).body as Checks
  await waitUntil('health names the account', async () => {
    return (await health()).checks.network_unreachable[0]?.instances[0] === 'n0'
  })
  assert.equal((await health()).status, 'degraded')
  await service.request('DELETE', '/api/instances/n0')
  assert.equal((await health()).status, 'ok')
  assert.equal(ends(service).length, 0)
})
