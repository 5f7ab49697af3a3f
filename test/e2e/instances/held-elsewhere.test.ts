// What a node answers about instances that another node holds, and what it leaves to that node.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Insertable } from 'kysely'
import { onlyNode } from '../../../src/app/nodes/node-view.ts'
import type { NodeView } from '../../../src/app/nodes/node-view.ts'
import type { OutboxTable } from '../../../src/storage/schema/messages.ts'
import { JournalStore } from '../../../src/storage/stores/messages/journal-store.ts'
import { sealed } from '../../../src/storage/stores/messages/outbox-rows.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { engines } from '../../harness/databases.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleEvent, sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import type { ServiceOptions } from '../../harness/service.ts'

type Row = Record<string, unknown> & { name: string }
type Health = {
  status: string
  checks: Record<string, unknown>
  instances: Row[]
  nodes?: Row[]
}
type Overview = { needs_you: { kind: string; instance: string | null }[]; instances: Row[]; totals: object }

const jid = '5511999990009@s.whatsapp.net'
const theirs = sampleInstanceColumns('theirs', { state: 'ready', jid, ownerTag: 'acme', inboxId: 9, readyAt: 5000 })
const nodes = [
  { id: 'n1', name: 'host-1 pid 1', state: 'active' as const, held: 1, build: '1.0.0', settingsDiffer: false },
  { id: 'n2', name: 'host-2 pid 1', state: 'draining' as const, held: 1, build: '1.0.0', settingsDiffer: false },
]
const shownNodes = { nodes, quarantined: [], setBackAt: null }

/** A service that holds `mine`, beside a process that holds `theirs`. */
async function startBeside(view: Partial<NodeView> = {}, options: ServiceOptions = {}): Promise<Service> {
  const service = await Service.start({
    ...options,
    nodes: { ...onlyNode, hasPeers: () => true, ...view },
    seed: async (database) => {
      await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('mine')))
    },
  })
  const { database } = service
  await database.write(database.query.insertInto('instances').values(theirs))
  return service
}

function outboxRow(id: string, instance: string): Insertable<OutboxTable> {
  const payload = { type: 'message' as const, content: 'hello', attachments: [], inReplyTo: null, agentName: null }
  return {
    ...{ id, kind: 'message', instance, owner_tag: '', inbox_id: 9, destination: 'd', chat: 'c', remote_jid: jid },
    ...{ conversation_id: 1, message_id: null, status: 'pending', waiting: 1, drained: 0, expires_at: null },
    ...sealed(id, payload),
    ...{ fingerprint: null, reason: null, look_at: null, created_at: 1000, settled_at: null },
  }
}

const namesOf = (rows: unknown) => (rows as Row[]).map(({ name }) => name)

for (const engine of engines) {
  describe(`beside a node that holds instances, on ${engine}`, () => {
    test('lists and states show all instances', async () => {
      await using service = await startBeside({}, { engine })
      assert.deepEqual((await service.get('/api/instances')).body, [
        { name: 'mine', state: 'disconnected' },
        { name: 'theirs', state: 'ready', jid },
      ])
      const state = await service.get('/api/instances/theirs/state')
      assert.deepEqual([state.status, state.body], [200, { instance: 'theirs', state: 'ready', jid }])
      const details = (await service.get('/api/instances/bulk/status')).body as Row[]
      assert.deepEqual(namesOf(details), ['mine', 'theirs'])
      assert.partialDeepStrictEqual(details[1], {
        ...{ owner_tag: 'acme', inbox_id: 9, reconnect_attempts: 0, pending_logout: false },
        qr: { available: false, generated_at: null, expires_in_seconds: null },
        ready_at: new Date(5000).toISOString(),
      })
      const named = (await service.get('/api/instances/bulk/status?names=theirs,gone,mine')).body as Row[]
      assert.deepEqual(
        named.map(({ name, state: each }) => [name, each]),
        [
          ['theirs', 'ready'],
          ['gone', 'not_found'],
          ['mine', 'disconnected'],
        ],
      )
    })

    test('what is stored of an instance is answered by any node, and of an unknown one by none', async () => {
      await using service = await startBeside({}, { engine })
      const { database } = service
      await database.write(database.query.insertInto('outbox').values(outboxRow('r1', 'theirs')))
      for (const part of ['usage', 'deliveries', 'outbox', 'outbox/r1', 'parked', 'states', 'state']) {
        const answer = await service.get(`/api/instances/theirs/${part}`)
        assert.equal(answer.status, 200, `${part}: ${answer.text}`)
        assertRefused(await service.get(`/api/instances/gone/${part}`), 'SERVICE_INSTANCE_NOT_FOUND', /"gone"/)
      }
      const { body } = await service.get('/api/instances/theirs/outbox')
      assert.partialDeepStrictEqual(body, { instance: 'theirs', pending: 1 })
    })

    test('the overview counts what waits at the other node', async () => {
      await using service = await startBeside({ shown: () => ({ ...shownNodes, quarantined: ['theirs'] }) }, { engine })
      const { database } = service
      const { query } = database
      const journal = new JournalStore(database)
      const inbox = ['a', 'b', 'c'].map((id) =>
        journal.inbox({ id, instance: 'theirs', event: sampleEvent(id), receivedAt: 1000 }),
      )
      await database.write(
        ...inbox,
        query.updateTable('inbox').set({ state: 'parked' }).where('id', '=', 'c'),
        query.insertInto('outbox').values(outboxRow('r1', 'theirs')),
        query.insertInto('last_messages').values({ instance: 'theirs', in_at: 1000, out_at: null }),
      )
      const { instances, totals, needs_you: needs } = (await service.get('/api/overview')).body as Overview
      assert.deepEqual(namesOf(instances), ['mine', 'theirs'])
      assert.partialDeepStrictEqual(instances[1], {
        ...{ owner_tag: 'acme', state: 'ready', phone: '5511999990009', qr_available: false, ban_level: 'ok' },
        ...{ outbox_pending: 1, inbox_pending: 2, parked: 1, last_out_at: null, pending_logout: false },
        last_in_at: new Date(1000).toISOString(),
      })
      assert.deepEqual(totals, { instances: 2, ready: 1, outbox_pending: 1, inbox_pending: 2, parked: 1 })
      assert.deepEqual(
        needs.map(({ kind, instance }) => [kind, instance]),
        [
          ['quarantined', 'theirs'],
          ['parked', 'theirs'],
        ],
      )
      const bundle = (await service.get('/api/support-bundle')).body as Record<string, { instance: string }[]>
      assert.deepEqual(bundle['states']?.map(({ instance }) => instance).sort(), ['mine', 'theirs'])
    })

    test('the overview shows what the other node answers, and what is stored when it answers nonsense', async () => {
      const row = {
        ...{ name: 'theirs', owner_tag: 'acme', state: 'ready', phone: '5511999990009', qr_available: true },
        ...{ last_error_code: null, last_error: null, ready_at: null, last_in_at: null, last_out_at: null },
        ...{ outbox_pending: 7, inbox_pending: 0, parked: 0, ban_level: 'high', pending_logout: false },
      }
      const need = (kind: string, destination: string) => ({
        ...{ kind, instance: null, destination, sentence: 's', cure: 'c', since: null },
      })
      const [held, lost] = [need('destination_held', 'd'), need('callbacks_lost', 'd')]
      const deleted = { ...row, name: 'deleted meanwhile' }
      const other = { needs_you: [lost, held, held], instances: [row, deleted] }
      let answers: unknown[] = [other, { needs_you: [held], instances: [] }]
      await using service = await startBeside({ readOthers: () => Promise.resolve(answers) }, { engine })
      const read = async () => (await service.get('/api/overview')).body as Overview
      const { instances, needs_you: needs } = await read()
      assert.deepEqual([namesOf(instances), instances[1]], [['mine', 'theirs'], row])
      assert.deepEqual(
        needs.map(({ kind }) => kind),
        ['destination_held', 'callbacks_lost', 'ban_risk'],
      )
      const short = Object.fromEntries(Object.entries(row).filter(([field]) => field !== 'ban_level'))
      answers = [null, {}, { ...other, instances: [short] }, { ...other, needs_you: ['news'] }]
      const { instances: stored, needs_you: none } = await read()
      assert.partialDeepStrictEqual(stored[1], { name: 'theirs', outbox_pending: 0, qr_available: false })
      assert.deepEqual(none, [])
    })

    test('rows of an instance of another node are left alone, and those of a deleted one fail', async () => {
      await using service = await startBeside({}, { engine })
      const { database, app } = service
      const rows = [outboxRow('r1', 'theirs'), outboxRow('r2', 'gone')]
      await database.write(database.query.insertInto('outbox').values(rows))
      for (const name of ['outbox-drain', 'outbox-expire', 'outbox-drain']) await app.workers.get(name)?.tick()
      const query = database.query.selectFrom('outbox').select(['id', 'status', 'expires_at']).orderBy('id')
      assert.deepEqual(
        (await database.read(query)).map(({ id, status, expires_at }) => [id, status, expires_at !== null]),
        [
          ['r1', 'pending', false],
          ['r2', 'failed', false],
        ],
      )
      assert.deepEqual(
        app.workers
          .values()
          .filter(({ failure }) => failure)
          .map(({ name }) => name)
          .toArray(),
        [],
      )
    })

    test('destinations and public stats count all instances', async () => {
      const environment = { PUBLIC_STATS_ENABLED: 'true' }
      await using service = await startBeside({}, { engine, environment })
      const body = { downstream_base_url: 'https://desk.example', downstream_api_token: 't', downstream_account_id: 3 }
      await service.request('PUT', '/api/tenants/acme', { body })
      const destinations = (await service.get('/api/destinations')).body as { inbox_id: number; instances: string[] }[]
      assert.deepEqual(
        destinations.map(({ inbox_id, instances }) => [inbox_id, instances]),
        [[9, ['theirs']]],
      )
      const stats = (await service.get('/api/public/stats')).body
      assert.partialDeepStrictEqual(stats, { instances_total: 2, instances_connected: 1 })
    })
  })
}

describe('health beside other nodes', () => {
  const shown = () => ({ ...shownNodes, quarantined: ['theirs'] })
  /** Health waits only for a moment until it has read the other instances. On this clock the moment does not pass. */
  const patient = () => ({ clock: new ManualClock() })

  test('names the nodes, all instances and those in quarantine, which degrade it', async () => {
    await using service = await startBeside({ shown }, patient())
    const health = (await service.get('/api/health')).body as Health
    assert.deepEqual([health.status, namesOf(health.instances)], ['degraded', ['mine', 'theirs']])
    assert.deepEqual(
      health.nodes,
      nodes.map(({ settingsDiffer, ...node }) => ({ ...node, settings_differ: settingsDiffer })),
    )
    assert.partialDeepStrictEqual(health.checks, {
      ...{ quarantined: ['theirs'], instances_total: 2, instances_connected: 1 },
    })
  })

  test('is ok with several nodes and nothing in quarantine', async () => {
    await using service = await startBeside({ shown: () => shownNodes })
    const health = (await service.get('/api/health')).body as Health
    assert.deepEqual([health.status, health.checks['quarantined']], ['ok', []])
  })

  test('is degraded while a node has other settings, and the overview names it', async () => {
    const other = nodes.map((node) => ({ ...node, settingsDiffer: node.id === 'n2' }))
    await using service = await startBeside({ shown: () => ({ ...shownNodes, nodes: other }) })
    assert.equal(((await service.get('/api/health')).body as Health).status, 'degraded')
    const { needs_you: needs } = (await service.get('/api/overview')).body as Overview
    assert.partialDeepStrictEqual(needs, [{ kind: 'settings_differ', instance: null }])
    assert.match(JSON.stringify(needs), /host-2 pid 1/)
  })

  test('is degraded after the database was set back, and the overview says so', async () => {
    await using service = await startBeside({ shown: () => ({ ...shownNodes, setBackAt: 5000 }) })
    const health = (await service.get('/api/health')).body as Health
    const at = new Date(5000).toISOString()
    assert.deepEqual([health.status, health.checks['database_set_back_at']], ['degraded', at])
    const { needs_you: needs } = (await service.get('/api/overview')).body as Overview
    assert.partialDeepStrictEqual(needs, [{ kind: 'database_set_back', instance: null, since: at }])
  })

  test('shows what is stored about the nodes, and asks again for each answer', async () => {
    let reads = 0
    const freshen = () => {
      reads++
      return Promise.resolve()
    }
    await using service = await startBeside({ freshen, shown: () => ({ ...shownNodes, quarantined: [`q${reads}`] }) })
    const { checks } = (await service.get('/api/health')).body as Health
    assert.deepEqual(checks['quarantined'], ['q1'])
    const { needs_you: needs } = (await service.get('/api/overview')).body as Overview
    assert.partialDeepStrictEqual(needs, [{ kind: 'quarantined', instance: 'q2' }])
  })

  test('tells a stranger no name of a node or an instance', async () => {
    await using service = await startBeside(
      { shown },
      { ...patient(), environment: { SERVICE_HEALTH_DETAILS: 'token' } },
    )
    const { body, text } = await service.request('GET', '/api/health', { token: null })
    assert.ok(!/theirs|mine|host-/.test(text), text)
    const { checks, nodes: reduced, status } = body as Health
    assert.deepEqual([status, reduced, checks['quarantined']], ['degraded', [], []])
    assert.equal(checks['instances_total'], 2)
  })

  test('has no nodes when there is one', async () => {
    await using service = await Service.start()
    const health = (await service.get('/api/health')).body as Health
    assert.deepEqual(['nodes' in health, 'quarantined' in health.checks], [false, false])
  })

  test('forgets an instance as soon as it is deleted here', async () => {
    await using service = await startBeside({}, patient())
    const names = async () => namesOf(((await service.get('/api/health')).body as Health).instances)
    assert.deepEqual(await names(), ['mine', 'theirs'])
    assert.equal((await service.request('DELETE', '/api/instances/mine')).status, 200)
    assert.deepEqual(await names(), ['theirs'])
  })
})

test('a balancer learns from GET /api/ready, without a token, where requests go', async () => {
  let trouble: ReturnType<NodeView['trouble']> = null
  await using service = await startBeside({ trouble: () => trouble })
  const ask = async () => {
    const { status, body } = await service.request('GET', '/api/ready', { token: null })
    return [status, body]
  }
  assert.deepEqual(await ask(), [200, { status: 'ready' }])
  for (const reason of ['draining', 'cut_off'] as const) {
    trouble = reason
    assert.deepEqual(await ask(), [503, { status: reason }])
    // Requests that come all the same are served.
    assert.equal((await service.get('/api/instances')).status, 200)
  }
})
