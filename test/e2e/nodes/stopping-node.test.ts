// A node that stops goes on handing requests to other nodes, until balancers have noticed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migratedLocation, withoutPostgres } from '../../harness/databases.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { nodeSettings } from '../../harness/stranger.ts'
import { waitUntil } from '../../harness/wait-until.ts'

/** How long it takes at least. A timer may fire a moment early. */
const leastMs = 4990

test('a node that holds nothing more answers for 5 s, through the owners', { skip: withoutPostgres }, async () => {
  await using place = await migratedLocation('postgres')
  await using owner = await Service.start({
    ...{ place, environment: await nodeSettings('owner') },
    seed: async (database) => {
      await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('shop')))
    },
  })
  await using leaving = await Service.start({ place, environment: await nodeSettings('stranger') })
  const since = performance.now()
  let tookMs: number | undefined
  const stopped = leaving.app.stop().then(() => (tookMs = performance.now() - since))
  // As a balancer asks.
  await waitUntil('it is not ready', async () => (await leaving.get('/api/ready')).status === 503)
  const { status, body } = await leaving.get('/api/instances/shop')
  assert.deepEqual([status, (body as { name: string }).name], [200, 'shop'])
  assert.equal((await owner.get('/api/ready')).status, 200)
  await stopped
  assert.ok((tookMs ?? 0) >= leastMs, `stopped after ${tookMs} ms`)
})
