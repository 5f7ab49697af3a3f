import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { newLocation } from '../../harness/databases.ts'
import { seedLinked } from '../../harness/linked-seed.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Item = { name: string; state: string }
const count = 100

async function allReady(service: Service): Promise<void> {
  let states: Record<string, number> = {}
  await waitUntil(
    `all ${count} instances are ready`,
    async () => {
      states = {}
      for (const { state } of (await service.get('/api/instances')).body as Item[])
        states[state] = (states[state] ?? 0) + 1
      return states['ready'] === count
    },
    { timeoutMs: 120_000, instead: () => states },
  )
}

test('100 linked instances are all ready after a restart, none paired again, and the API answers meanwhile', async () => {
  await using place = await newLocation('sqlite')
  await using network = await SimNetwork.start()
  let phones: SimPhone[] = []
  {
    await using service = await Service.start({
      place,
      network,
      seed: async (database) => {
        phones = await seedLinked(database, network, count)
      },
    })
    const { status } = await service.get('/api/health')
    assert.equal(status, 200, 'the API answers while the accounts connect')
    await allReady(service)
  }
  await using again = await Service.start({ place, network })
  const slowest = { ms: 0 }
  const answering = (async () => {
    while (((await again.get('/api/instances')).body as Item[]).some(({ state }) => state !== 'ready')) {
      const asked = performance.now()
      assert.equal((await again.get('/api/health')).status, 200)
      slowest.ms = Math.max(slowest.ms, performance.now() - asked)
    }
  })()
  await allReady(again)
  await answering
  assert.ok(slowest.ms < 10_000, `the slowest answer took ${slowest.ms} ms`)
  for (const phone of phones) assert.equal(phone.companions.length, 1)
})
