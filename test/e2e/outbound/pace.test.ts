// The pace of an instance: its own limit, the warm-up of its number, and its first contacts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { AgentWorld } from '../../harness/agent-world.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import type { InstanceApi } from '../../harness/instance-api.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const day = 86_400_000

type Risk = {
  first_contacts_24h: number
  rate_limit_in_force: number
  warmup: { day: number; days: number } | null
  score: number
  delivery_samples: number
}

const riskOf = async ({ service }: Pick<InstanceApi, 'service'>, name: string) =>
  (await service.get(`/api/instances/${name}/ban-risk`)).body as Risk

async function paceOf(world: World, name = 'a'): Promise<[limit: number, day: number | undefined]> {
  const { rate_limit_in_force: limit, warmup } = await riskOf(world, name)
  return [limit, warmup?.day]
}

/** As if all times of links lay so many days further back. */
async function age(world: World, days: number): Promise<void> {
  const { database } = world.service
  const unstored = database.query.selectFrom('instances').select('name').where('linked_at', 'is', null)
  await waitUntil('the link is stored', async () => (await database.read(unstored)).length === 0)
  const earlier = (column: 'linked_at' | 'unlinked_at') =>
    sql<number>`${sql.ref(column)} - CAST(${days * day} AS BIGINT)`
  const changes = { linked_at: earlier('linked_at'), unlinked_at: earlier('unlinked_at') }
  await database.write(database.query.updateTable('instances').set(changes))
  await world.restartService()
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`the pace of an instance on ${engine}`, () => {
    test('an own limit is stored, shown, and given up with null', async () => {
      await using world = await World.unlinked({ engine, environment: { SERVICE_OUTGOING_RATE_LIMIT: '20' } })
      await world.create({ name: 'a', outgoing_rate_limit: 7 })
      await world.create({ name: 'b' })
      assert.deepEqual(await paceOf(world), [7, undefined])
      assert.deepEqual(await paceOf(world, 'b'), [20, undefined])
      assert.equal((await world.patch('a', { outgoing_rate_limit: 0 })).status, 200)
      await world.restartService()
      assert.equal((await world.detail('a')).outgoing_rate_limit, 0)
      assert.deepEqual(await paceOf(world), [0, undefined])
      await world.patch('a', { spamguard_enabled: true })
      assert.equal((await world.detail('a')).outgoing_rate_limit, 0)
      await world.patch('a', { outgoing_rate_limit: null })
      assert.equal((await world.detail('a')).outgoing_rate_limit, null)
      assert.deepEqual(await paceOf(world), [20, undefined])
    })

    test('the warm-up counts from the link of the number, and a number that is linked again goes on with it', async () => {
      await using world = await World.unlinked({ engine, environment: { SERVICE_WARMUP_DAYS: '10' } })
      await world.pair('a')
      assert.deepEqual(await paceOf(world), [8, 1])
      await age(world, 3)
      await world.reaches('a', 'ready')
      assert.deepEqual(await paceOf(world), [15, 4])
      await world.command('/a/logout')
      await world.pair('a')
      assert.deepEqual(await paceOf(world), [15, 4])
      await world.service.request('DELETE', '/api/instances/a')
      await world.create({ name: 'a', resume: true })
      await world.reaches('a', 'ready')
      assert.deepEqual(await paceOf(world), [15, 4])
      await age(world, 7)
      assert.deepEqual(await paceOf(world), [0, undefined])
      await world.command('/a/logout')
      await world.pair('a', '5511999990002')
      assert.deepEqual(await paceOf(world), [8, 1])
    })

    test('a number that comes back after more than 30 days starts its warm-up anew', async () => {
      await using world = await World.unlinked({ engine, environment: { SERVICE_WARMUP_DAYS: '10' } })
      await world.pair('a')
      await world.command('/a/logout')
      await age(world, 31)
      await world.pair('a')
      assert.deepEqual(await paceOf(world), [8, 1])
    })

    test('first contacts of the last day are counted, also after a restart, and the score does not change', async () => {
      await using world = await AgentWorld.open({ engine })
      const eve = world.network.person({ phone: '5511888880002', pushName: 'Eve' })
      const { conversationId } = await world.arrived(eve.text(world.phone, 'hello'))
      assert.equal((await riskOf(world, 'n0')).first_contacts_24h, 0)
      await world.write('an answer', {}, conversationId)
      await world.received('an answer', eve)
      for (const text of ['a first message', 'a second message']) {
        await world.write(text)
        await world.received(text)
      }
      const counted = async () => (await riskOf(world, 'n0')).first_contacts_24h
      // A message is counted a moment after it has arrived.
      await waitUntil('all are counted', async () => (await riskOf(world, 'n0')).delivery_samples === 3)
      assert.equal(await counted(), 1)
      const { score } = await riskOf(world, 'n0')
      assert.equal(score, (0.4 * (3 / 30) + 0.3 * (2 / 20)) / 1.7)
      await world.restart()
      assert.equal(await counted(), 1)
      const risk = await riskOf(world, 'n0')
      assert.deepEqual([risk.delivery_samples, risk.score], [3, score], 'the risk goes on, too')
    })

    test('a restart does not let more messages leave in a minute', async () => {
      await using world = await AgentWorld.open({ engine, environment: { SERVICE_OUTGOING_RATE_LIMIT: '2' } })
      const { database } = world.service
      for (const text of ['one', 'two']) {
        await world.write(text)
        await world.received(text)
      }
      await waitUntil('both are counted', async () => (await riskOf(world, 'n0')).delivery_samples === 2)
      await world.restart()
      await world.write('three')
      const waiting = database.query.selectFrom('outbox').select('id').where('waiting', '=', 1)
      await waitUntil(
        'the third waits for its pace',
        async () => (await world.service.database.read(waiting)).length === 1,
      )
      assert.deepEqual(world.texts(), ['one', 'two'])
    })
  })
}

test('a number that a wrong clock linked in the future is in its first day, and not stopped', async () => {
  await using world = await World.open({ environment: { SERVICE_WARMUP_DAYS: '10' } })
  // The number was linked long before there was a warm-up.
  assert.deepEqual(await paceOf(world, 'n0'), [0, undefined])
  await age(world, -30_000)
  assert.deepEqual(await paceOf(world, 'n0'), [8, 1])
})
