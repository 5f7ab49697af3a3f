// GET /api/overview: what an operator must look at, and all instances.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { InstanceRegistry } from '../../../instances/instance-registry.ts'
import type { Roster } from '../../../instances/roster/roster.ts'
import type { HttpApp } from '../../http-app.ts'
import { listNeeds, Need } from './needs-you.ts'
import type { NeedDeps } from './needs-you.ts'
import { OverviewRow, toOverviewRow } from './overview-row.ts'
import type { RowDeps } from './overview-row.ts'

export type OverviewDeps = {
  instances: Pick<InstanceRegistry, 'has'>
  roster: Pick<Roster, 'current'>
  /** Of instances that this node holds, from memory. */
  rows: RowDeps
  /** Of instances of other nodes, from the database. */
  readStoredRows: () => Promise<RowDeps>
  needs: NeedDeps
}

const Overview = Type.Object(
  {
    needs_you: Type.Array(Need, { description: 'What an operator must look at, the most urgent first' }),
    instances: Type.Array(OverviewRow),
    totals: Type.Object({
      instances: Type.Integer(),
      ready: Type.Integer(),
      outbox_pending: Type.Integer(),
      inbox_pending: Type.Integer(),
      parked: Type.Integer(),
    }),
  },
  { title: 'Overview' },
)

export function addOverviewRoute(app: HttpApp, deps: OverviewDeps): void {
  app.get(
    '/api/overview',
    {
      schema: {
        operationId: 'getOverview',
        tags: ['observability'],
        summary: 'All instances on one page, and what an operator must look at',
        description:
          'The answer comes from memory and asks no database, unless another node holds instances. ' +
          'The times of the last messages are stored every minute: after a crash they may be a minute too old. ' +
          'So may those of an instance of another node. Its QR code and its ban level are known only to its own node: ' +
          'they are shown as false and ok.',
        response: { 200: Overview },
      },
    },
    () => readOverview(deps),
  )
}

export async function readOverview(deps: OverviewDeps): Promise<Static<typeof Overview>> {
  const [listed] = await Promise.all([listRows(deps), deps.needs.nodes.freshen()])
  const sum = (count: (row: (typeof listed)[number]) => number) => listed.reduce((all, row) => all + count(row), 0)
  return {
    needs_you: listNeeds(deps.needs, listed),
    instances: listed,
    totals: {
      instances: listed.length,
      ready: sum(({ state }) => (state === 'ready' ? 1 : 0)),
      outbox_pending: sum((row) => row.outbox_pending),
      inbox_pending: sum((row) => row.inbox_pending),
      parked: sum((row) => row.parked),
    },
  }
}

async function listRows({ instances, roster, rows, readStoredRows }: OverviewDeps) {
  const all = await roster.current()
  const isHere = all.map(({ record }) => instances.has(record.name))
  const stored = isHere.every(Boolean) ? rows : await readStoredRows()
  return all.map((each, index) => toOverviewRow(isHere[index] ? rows : stored, each))
}
