// GET /api/destinations: which helpdesk inboxes there are, who uses them, and what is wrong with them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noDestination, tenantSettings } from '../../harness/destination.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

type Destination = {
  destination: string
  owner_tag: string | null
  base_url: string
  account_id: number
  inbox_id: number
  instances: string[]
  version: string | null
  held: { reason: string; since: string; cure: string } | null
  callbacks_lost: object | null
}

async function list(world: World): Promise<Destination[]> {
  const { status, body, text } = await world.service.get('/api/destinations')
  assert.equal(status, 200, text)
  return body as Destination[]
}

const facts = ({ owner_tag, inbox_id, instances }: Destination) => [owner_tag, inbox_id, instances]

for (const engine of drawnEngines(import.meta.url)) {
  describe(`destinations (${engine})`, { concurrency: 3 }, () => {
    test('a service without a helpdesk has none', async () => {
      await using world = await World.unlinked({ engine, environment: noDestination })
      await world.create({ name: 'shop' })
      assert.deepEqual(await list(world), [])
    })

    test('the inboxes of instances, of tenants and of the settings are listed once, with their instances', async () => {
      await using world = await World.unlinked({ engine, environment: { DOWNSTREAM_INBOX_ID: '0' } })
      assert.deepEqual((await list(world)).map(facts), [[null, 0, []]])
      await world.service.request('PUT', '/api/tenants/acme', { body: tenantSettings(world.helpdesk, 5) })
      await world.service.request('PUT', '/api/tenants/idle', { body: tenantSettings(world.helpdesk, 0) })
      await world.create({ name: 'a', owner_tag: 'acme' })
      await world.create({ name: 'b', owner_tag: 'no tenant', inbox_id: 3 })
      await world.create({ name: 'c', inbox_id: 3 })
      await world.create({ name: 'd', inbox_id: 4 })
      await world.create({ name: 'e' })
      assert.deepEqual((await list(world)).map(facts), [
        [null, 3, ['b', 'c']],
        [null, 4, ['d']],
        ['acme', 5, ['a']],
        ['idle', 0, []],
      ])
      const { url, account_id: account } = world.helpdesk.facts
      const [first] = await list(world)
      assert.deepEqual(first, {
        destination: `${new URL(url).origin}|${account}|3`,
        owner_tag: null,
        base_url: url,
        account_id: account,
        inbox_id: 3,
        instances: ['b', 'c'],
        version: null,
        held: null,
        callbacks_lost: null,
      })
    })

    test('the version is known after a check, and a hold is shown with its cure', async () => {
      await using world = await World.open({ engine })
      await world.service.get('/api/instances/n0/check')
      const [checked] = await list(world)
      assert.match(checked?.version ?? '', /^4\.14/)
      assert.equal(checked?.held, null)
      world.helpdesk.world.suspendAccount(true)
      world.network.person({ phone: '5511977770042' }).text(world.phone, 'hello')
      await waitUntil('the destination is held', async () => (await list(world))[0]?.held !== null)
      const [held] = await list(world)
      assert.match(held?.held?.cure ?? '', /check list/)
      assert.ok(!Number.isNaN(Date.parse(held?.held?.since ?? '')))
    })
  })
}
