// GET /api/nodes: the nodes of the service, what each of them holds, and what moved last.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { moveReasons } from '../../../core/nodes/cluster-view.ts'
import type { ClusterView, ListedNode, MoveReason, PastMove } from '../../../core/nodes/cluster-view.ts'
import { nodeStates } from '../../../core/nodes/node.ts'
import type { NodeState } from '../../../core/nodes/node.ts'
import type { HttpApp } from '../../http-app.ts'
import { nullable, Timestamp, toTimestamp } from '../../schemas.ts'

export type NodesDeps = { cluster: ClusterView }

const NodeRow = Type.Object(
  {
    id: Type.String({ description: 'Random; a process gets a new one with every start' }),
    name: Type.String({ description: 'Its host and process' }),
    state: Type.Unsafe<NodeState>({ type: 'string', enum: [...nodeStates] }),
    build: Type.String({ description: 'The version that it runs' }),
    protocol: Type.Integer({ description: 'Grows when nodes get new duties towards each other' }),
    capacity: Type.Integer({
      description: 'How many instances it takes in relation to the others; 0 for a cell',
    }),
    held: Type.Integer({ description: 'How many instances it holds' }),
    share: Type.Number({ description: 'The part of all instances that it holds, from 0 to 1' }),
    joined_at: Timestamp,
    is_cell: Type.Boolean({
      description:
        'True for a process that another node started for instances that may end it; clients do not reach it',
    }),
    is_self: Type.Boolean({ description: 'True for the node that answers' }),
    settings_differ: Type.Boolean({
      description: 'True when its settings are not those of most nodes of its build: it treats messages in another way',
    }),
  },
  { title: 'NodeRow' },
)

const name = (description: string) => nullable(Type.String({ description }))

const MoveRow = Type.Object(
  {
    instance: Type.String(),
    from: name('The name of the node before; null when no node held the instance'),
    to: name('The name of the node after; null when no other node could take the instance'),
    reason: Type.Unsafe<MoveReason>({
      type: 'string',
      enum: [...moveReasons],
      description: 'The node before died or gave the instance away, or no node held the instance',
    }),
    at: Timestamp,
  },
  { title: 'Move' },
)

const Nodes = Type.Object(
  {
    nodes: Type.Array(NodeRow),
    totals: Type.Object({
      instances: Type.Integer(),
      free: Type.Integer({ description: 'Instances that no node holds; a node takes them within seconds' }),
      quarantined: Type.Array(Type.String(), {
        description:
          'Instances that no node opens, because their nodes died again and again. ' +
          'POST /api/instances/:name/restart opens one again',
      }),
    }),
    moves: Type.Array(MoveRow, { description: 'The last 50 moves of a week, newest first' }),
  },
  { title: 'Nodes' },
)

export function addNodesRoute(app: HttpApp, { cluster }: NodesDeps): void {
  app.get(
    '/api/nodes',
    {
      schema: {
        operationId: 'listNodes',
        tags: ['observability'],
        summary: 'The nodes of the service, what each of them holds, and what moved last',
        description:
          'Any node answers the same. A service that runs as one process shows itself, with every instance. ' +
          'Nodes that have ended are not listed.',
        response: { 200: Nodes },
      },
    },
    async () => {
      const { nodes, free, quarantined, moves } = await cluster.read()
      const held = nodes.reduce((sum, node) => sum + node.held, 0)
      const instances = held + free + quarantined.length
      return {
        nodes: nodes.map((node) => toRow(node, instances)),
        totals: { instances, free, quarantined },
        moves: moves.map(({ at, ...move }: PastMove) => ({ ...move, at: toTimestamp(at) })),
      }
    },
  )
}

function toRow({ joinedAt, ...listed }: ListedNode, all: number): Static<typeof NodeRow> {
  const { isCell, isSelf, settingsDiffer, ...node } = listed
  const share = all === 0 ? 0 : Math.round((node.held / all) * 1000) / 1000
  const flags = { is_cell: isCell, is_self: isSelf, settings_differ: settingsDiffer }
  return { ...node, share, joined_at: toTimestamp(joinedAt), ...flags }
}
