// GET /api/nodes, alone and over the tables of nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClusterView } from '../../../src/app/nodes/create-cluster-view.ts'
import { onlyNode } from '../../../src/app/nodes/node-view.ts'
import type { SeenNode } from '../../../src/core/nodes/node.ts'
import { SetBackAlarm } from '../../../src/nodes/set-back-alarm.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { engines, withoutPostgres } from '../../harness/databases.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { packageVersion } from '../../harness/package-version.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { joinedAt, NodeStage, sampleNode } from '../../storage/harness/node-stage.ts'

type Row = { name: string; held: number; share: number; is_self: boolean }
type Nodes = { nodes: Row[]; totals: object; moves: { instance: string; reason: string }[] }

for (const engine of engines) {
  test(`a process without peers shows itself with every instance, on ${engine}`, async () => {
    await using service = await Service.start({
      engine,
      seed: async (database) => {
        const rows = ['a', 'b'].map((name) => sampleInstanceColumns(name))
        await database.write(database.query.insertInto('instances').values(rows))
      },
    })
    const { nodes, totals, moves } = (await service.get('/api/nodes')).body as Nodes
    assert.partialDeepStrictEqual(nodes, [
      {
        ...{ state: 'active', build: packageVersion, protocol: 1, capacity: 100, held: 2, share: 1 },
        ...{ is_cell: false, is_self: true, settings_differ: false },
      },
    ])
    assert.match(nodes[0]?.name ?? '', / pid \d+ \([0-9a-f]+\)$/)
    assert.deepEqual(totals, { instances: 2, free: 0, quarantined: [] })
    // On PostgreSQL the process is a node, which has placed both at its start.
    const placed = engine === 'postgres' ? ['a placed', 'b placed'] : []
    assert.deepEqual(moves.map(({ instance, reason }) => `${instance} ${reason}`).sort(), placed)
  })
}

test('only a caller with the token sees the nodes', async () => {
  await using service = await Service.start()
  assertRefused(await service.request('GET', '/api/nodes', { token: null }), 'SERVICE_UNAUTHORIZED', /TOKEN/)
})

test(
  'several nodes are shown with their shares, what moved, and what is in quarantine',
  { skip: withoutPostgres },
  async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    const clock = new ManualClock()
    const seen: SeenNode[] = ['a', 'b'].map((id) => ({ ...sampleNode(id), state: 'active', beat: 0, joinedAt }))
    const view = createClusterView({
      ...{ membership: { nodes: seen }, node: sampleNode('b'), setBack: new SetBackAlarm(clock) },
      ...{ database: stage.database, clock },
    })
    await using service = await Service.start({ nodes: { ...onlyNode, ...view } })
    for (const instance of ['w', 'x', 'y']) await stage.create(instance, 'c')
    await stage.assignments.quarantine(await stage.create('q', 'c'), joinedAt)
    const placements = [
      { instance: 'x', node: 'a' },
      { instance: 'y', node: 'b' },
    ]
    await stage.nodes.bury(await stage.seen('c'), placements, joinedAt + 1000)
    const { body } = await service.get('/api/nodes')
    const { nodes: rows, totals, moves } = body as Nodes
    assert.deepEqual(
      rows.map(({ name, held, share, is_self }) => [name, held, share, is_self]),
      [
        ['host a', 1, 0.25, false],
        ['host b', 1, 0.25, true],
      ],
    )
    assert.deepEqual(totals, { instances: 4, free: 1, quarantined: ['q'] })
    const at = new Date(joinedAt + 1000).toISOString()
    const death = { from: 'host c', reason: 'death', at }
    assert.deepEqual(new Set(moves.map((move) => JSON.stringify(move))).size, 3)
    assert.partialDeepStrictEqual(
      [...moves].sort((one, other) => one.instance.localeCompare(other.instance)),
      [
        { instance: 'w', to: null, ...death },
        { instance: 'x', to: 'host a', ...death },
        { instance: 'y', to: 'host b', ...death },
      ],
    )
  },
)
