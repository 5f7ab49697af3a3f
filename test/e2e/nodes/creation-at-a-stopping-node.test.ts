// A node that stops gives its instances away, so it creates none.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { migratedLocation, withoutPostgres } from '../../harness/databases.ts'
import { Service } from '../../harness/service.ts'
import { nodeSettings } from '../../harness/stranger.ts'
import { waitUntil } from '../../harness/wait-until.ts'

test('a node that stops creates no instance, and another node does', { skip: withoutPostgres }, async () => {
  await using place = await migratedLocation('postgres')
  await using other = await Service.start({ place, environment: await nodeSettings('owner') })
  await using leaving = await Service.start({ place, environment: await nodeSettings('stranger') })
  const stopped = leaving.app.stop()
  await waitUntil('it is not ready', async () => (await leaving.get('/api/ready')).status === 503)
  const create = (service: Service) => service.request('POST', '/api/instances', { body: { name: 'shop' } })
  assertRefused(await create(leaving), 'SERVICE_STOPPING')
  assert.equal((await create(other)).status, 201)
  await stopped
})
