// GET /api/overview and GET /api/instances/:name/states: all instances from memory, and how their states changed.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Database } from '../../../src/storage/database.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { perNode } from '../../harness/stranger.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

type Row = Record<string, unknown> & { name: string; state: string }
type Need = { kind: string; instance: string | null; sentence: string; cure: string; since: string | null }
type Overview = { needs_you: Need[]; instances: Row[]; totals: Record<string, number> }
type States = { instance: string; from: string; to: string; states: { at: string; state: string; reason: string }[] }

type Asked = { service: Pick<Service, 'get'> }

async function overview({ service }: Asked): Promise<Overview> {
  return (await service.get('/api/overview')).body as Overview
}

async function states({ service }: Asked, query = '', name = 'n0'): Promise<States> {
  return (await service.get(`/api/instances/${name}/states${query}`)).body as States
}

const hourMs = 3_600_000
/** A node reads all assignments after it has placed instances, and also every half minute. */
const lookAtAssignments = /from moves|left join "nodes" as "dead"/i

for (const engine of drawnEngines(import.meta.url)) {
  describe(`the overview on ${engine}`, { concurrency: 2 }, () => {
    test('shows when messages went in and out, also after a restart', async () => {
      await using world = await AgentWorld.open({ engine })
      const [fresh] = (await overview(world)).instances
      assert.deepEqual([fresh?.['last_in_at'], fresh?.['last_out_at']], [null, null], 'unknown is null')
      await world.arrived(world.bob.text(world.phone, 'hello'))
      await world.write('good day')
      await world.received('good day')
      await waitUntil('both times are known', async () => {
        const [row] = (await overview(world)).instances
        return row?.['last_in_at'] !== null && row?.['last_out_at'] !== null
      })
      const { instances, totals, needs_you: needs } = await overview(world)
      const [row] = instances
      assert.deepEqual(needs, [])
      assert.deepEqual(totals, { instances: 1, ready: 1, outbox_pending: 0, inbox_pending: 0, parked: 0 })
      assert.ok(row)
      const { last_in_at, last_out_at, ready_at, ...facts } = row
      assert.ok(Math.abs(Date.parse(String(last_in_at)) - Date.now()) < 60_000)
      assert.ok(ready_at)
      assert.deepEqual(facts, {
        ...{ name: 'n0', owner_tag: '', state: 'ready', phone: world.phone.user.phone, qr_available: false },
        ...{ last_error_code: null, last_error: null, outbox_pending: 0, inbox_pending: 0, parked: 0 },
        ...{ ban_level: 'ok', pending_logout: false },
      })
      await world.restart()
      const [again] = (await overview(world)).instances
      assert.deepEqual([again?.['last_in_at'], again?.['last_out_at']], [last_in_at, last_out_at])
    })

    test('asks for what an operator must do, the most urgent first', async () => {
      await using world = await AgentWorld.open({ engine, accounts: 2 })
      await world.arrived(world.bob.text(world.phone, 'fine'))
      await world.helpdesk.fault({ kind: 'status', status: 400, method: 'POST', path: /\/messages$/, times: 2 })
      world.bob.text(world.phone, 'one')
      await waitUntil('it is parked', async () => (await overview(world)).totals['parked'] === 1)
      await world.network.strike({
        kind: 'stream_error',
        reason: 'device_removed',
        account: world.phones[1]?.user.phone ?? '',
      })
      await world.reaches('n1', 'logged_out')
      const { needs_you: needs, instances } = await overview(world)
      assert.deepEqual(
        needs.map(({ kind, instance }) => [kind, instance]),
        [
          ['logged_out', 'n1'],
          ['parked', 'n0'],
        ],
      )
      assert.ok(needs.every(({ sentence, cure }) => sentence !== '' && cure !== ''))
      assert.deepEqual(
        instances.map(({ name, state, parked }) => [name, state, parked]),
        [
          ['n0', 'ready', 1],
          ['n1', 'logged_out', 0],
        ],
      )
    })
  })

  test(`the overview of 200 instances asks no table on ${engine}`, { skip: perNode }, async (context) => {
    // With this clock most background work stands still. The lease, the node and the probe of the database use the real time.
    const clock = new ManualClock()
    await using service = await Service.start({
      ...{ engine, clock },
      seed: async (database) => {
        const rows = Array.from({ length: 200 }, (_, n) => sampleInstanceColumns(`i${n}`))
        await database.write(database.query.insertInto('instances').values(rows))
      },
    })
    const read = context.mock.method(Database.prototype, 'read')
    const statements = () => read.mock.calls.map(({ arguments: [statement] }) => statement.compile().sql)
    const requests = 50
    for (let count = 1; count < requests; count++) await overview({ service })
    const { instances, totals } = await overview({ service })
    const reads = statements().filter((sql) => / from /i.test(sql) && !/"lease"/.test(sql))
    const { looks = [], others = [] } = Object.groupBy(reads, (sql) =>
      lookAtAssignments.test(sql) ? 'looks' : 'others',
    )
    assert.deepEqual(others, [])
    assert.ok(looks.length < requests, `the assignments were read ${looks.length} times`)
    assert.deepEqual([instances.length, totals['instances']], [200, 200])
    const { states: found } = await states({ service }, '', 'i7')
    assert.equal(found.length, 1)
    assert.ok(statements().some((sql) => /state_changes/.test(sql)))
  })

  describe(`the states of an instance on ${engine}`, () => {
    test('are told with their reasons, the state at the beginning first, and kept over a restart', async () => {
      await using world = await AgentWorld.open({ engine })
      await world.disconnect()
      await world.reconnect()
      const { instance, from, to, states: found } = await states(world)
      assert.deepEqual([instance, Date.parse(to) - Date.parse(from)], ['n0', 24 * hourMs])
      const names = found.map(({ state }) => state)
      assert.deepEqual(names.slice(0, 3), ['connecting', 'connected', 'ready'])
      assert.deepEqual(names.slice(-2), ['connected', 'ready'])
      assert.ok(names.includes('disconnected'))
      assert.ok(found.every(({ reason }) => reason !== ''))
      assert.ok(!JSON.stringify(found).includes(world.phone.user.phone))
      await world.restart()
      assert.deepEqual((await states(world)).states.slice(0, found.length), found)
    })

    test('of an account that fails again and again are no row for each attempt', async () => {
      const clock = new ManualClock()
      await using world = await AgentWorld.open({ engine, clock })
      await world.disconnect()
      const { loginAttempts } = world.network
      await waitUntil('it tried ten times more', async () => {
        await clock.advance(1000)
        return world.network.loginAttempts >= loginAttempts + 10
      })
      await waitUntil('an attempt has ended', async () => {
        await clock.advance(100)
        return (await world.detail('n0')).state === 'disconnected'
      })
      const { states: found } = await states(world)
      const after = found.map(({ state }) => state).slice(found.findIndex(({ state }) => state === 'ready') + 1)
      assert.ok(after.length <= 6, after.join())
      assert.equal(after.at(-1), 'disconnected')
    })

    test('are wanted for 1 to 48 hours of an instance that exists', async () => {
      await using world = await World.open({ engine })
      const { from, to, states: found } = await states(world, '?hours=1')
      assert.equal(Date.parse(to) - Date.parse(from), hourMs)
      assert.ok(found.length > 0)
      for (const hours of ['0', '49', 'x', '1.5', '-1', '', '99999999999999999999']) {
        assertRefused(
          await world.service.get(`/api/instances/n0/states?hours=${hours}`),
          'SERVICE_BAD_REQUEST',
          /hours/,
        )
      }
      assertRefused(await world.service.get('/api/instances/none/states'), 'SERVICE_INSTANCE_NOT_FOUND')
    })

    test('go with the instance', async () => {
      await using world = await World.unlinked({ engine })
      await world.pair('a')
      await world.service.request('DELETE', '/api/instances/a')
      await world.create({ name: 'a' })
      const { states: found } = await states(world, '', 'a')
      assert.deepEqual(
        found.map(({ state }) => state),
        ['qr_pending'],
      )
    })
  })
}
