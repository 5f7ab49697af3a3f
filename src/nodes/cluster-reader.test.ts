import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClusterReads } from '../core/nodes/cluster-view.ts'
import type { SeenNode } from '../core/nodes/node.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { ClusterReader } from './cluster-reader.ts'

function seen(id: string, overrides: Partial<SeenNode> = {}): SeenNode {
  return {
    ...{ id, name: `host ${id} at boot/1`, address: '', build: '1', protocol: 1, settingsHash: 'h', capacity: 100 },
    ...{ state: 'active', beat: 1, joinedAt: 1000 },
    ...overrides,
  }
}

function setUp(nodes: SeenNode[], stored: Partial<ClusterReads> = {}) {
  const clock = new ManualClock()
  const reads: ClusterReads = {
    counts: () => Promise.resolve({ held: new Map(), quarantined: [] }),
    newestMoves: () => Promise.resolve([]),
    ...stored,
  }
  return { clock, reader: new ClusterReader({ membership: { nodes }, ownName: 'host a at boot/1', reads, clock }) }
}

describe('what is shown of the nodes', () => {
  test('each living node with what it holds; what no living node holds is free', async () => {
    const held = new Map([
      ['a', 2],
      ['b', 1],
      ['dead', 4],
      [null, 8],
    ])
    const counts = () => Promise.resolve({ held, quarantined: ['q'] })
    const { nodes, free, quarantined } = await setUp([seen('a'), seen('b')], { counts }).reader.read()
    assert.deepEqual(
      nodes.map((node) => [node.id, node.name, node.held, node.isSelf]),
      [
        ['a', 'host a', 2, true],
        ['b', 'host b', 1, false],
      ],
    )
    assert.deepEqual([free, quarantined], [12, ['q']])
  })

  test('moves name nodes as people know them', async () => {
    const move = { instance: 'x', from: 'host a at boot/1', to: null, reason: 'death' as const, at: 1000 }
    const { moves } = await setUp([], { newestMoves: () => Promise.resolve([move]) }).reader.read()
    assert.deepEqual(moves, [{ ...move, from: 'host a' }])
  })

  const differing = (nodes: SeenNode[]) =>
    setUp(nodes).reader.last.nodes.flatMap(({ id, settingsDiffer }) => (settingsDiffer ? [id] : []))

  test('a node whose settings are not those of most nodes differs', () => {
    assert.deepEqual(differing([seen('a'), seen('b', { settingsHash: 'other' }), seen('c')]), ['b'])
  })

  test('of two nodes the one that joined first differs', () => {
    assert.deepEqual(differing([seen('a'), seen('b', { settingsHash: 'other', joinedAt: 2000 })]), ['a'])
  })

  test('nodes of two builds are not compared', () => {
    assert.deepEqual(differing([seen('a'), seen('b', { settingsHash: 'other', build: '2' })]), [])
  })

  test('callers that need no token cause one read a second', async () => {
    let count = 0
    const counts = () => Promise.resolve({ held: new Map([['a', ++count]]), quarantined: [] })
    const { reader, clock } = setUp([seen('a')], { counts })
    const held = () => reader.last.nodes.map((node) => node.held)
    await Promise.all([reader.freshen(), reader.freshen()])
    await reader.freshen()
    assert.deepEqual(held(), [1])
    await clock.advance(1000)
    await reader.freshen()
    assert.deepEqual(held(), [2])
  })
})
