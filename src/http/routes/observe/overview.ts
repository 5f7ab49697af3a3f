// GET /api/overview: what an operator must look at, and all instances, from memory.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { InstanceRegistry } from '../../../instances/instance-registry.ts'
import type { HttpApp } from '../../http-app.ts'
import { listNeeds, Need } from './needs-you.ts'
import type { NeedDeps } from './needs-you.ts'
import { OverviewRow, toOverviewRow } from './overview-row.ts'
import type { RowDeps } from './overview-row.ts'

export type OverviewDeps = { instances: Pick<InstanceRegistry, 'list'>; rows: RowDeps; needs: NeedDeps }

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
          'The answer comes from memory and asks no database. The times of the last messages are stored every minute: ' +
          'after a crash they may be a minute too old.',
        response: { 200: Overview },
      },
    },
    () => readOverview(deps),
  )
}

export function readOverview({ instances, rows, needs }: OverviewDeps): Static<typeof Overview> {
  const listed = instances.list().map((account) => toOverviewRow(rows, account))
  const sum = (count: (row: (typeof listed)[number]) => number) => listed.reduce((all, row) => all + count(row), 0)
  return {
    needs_you: listNeeds(needs, listed),
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
