import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const count = rounds({ gate: 40, long: 100 })

test(`${count} linked instances are all ready after a restart, none paired again, and the API answers meanwhile`, async () => {
  await using world = await World.open({ accounts: count })
  await world.restartService()
  const connected: number[] = []
  await waitUntil(
    'all instances are connected',
    async () => {
      const { status, body } = await world.service.get('/api/health')
      assert.equal(status, 200)
      connected.push((body as { checks: { instances_connected: number } }).checks.instances_connected)
      return connected.at(-1) === count
    },
    { timeoutMs: 300_000, instead: () => connected.at(-1) },
  )
  assert.ok((connected[0] ?? count) < count, 'the API answers while the accounts connect')
  await world.allReady()
  for (const phone of world.phones) assert.equal(phone.companions.length, 1)
})
