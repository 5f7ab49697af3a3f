// GET /api/overview: what an operator must look at, and all instances.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { InstanceRegistry } from '../../../instances/instance-registry.ts'
import type { Roster } from '../../../instances/roster/roster.ts'
import type { HttpApp } from '../../http-app.ts'
import { joinNeeds, listNeeds } from './needs-you.ts'
import type { NeedDeps } from './needs-you.ts'
import { toOverviewRow } from './overview-row.ts'
import type { RowDeps } from './overview-row.ts'
import { isOwnOverview, ownOverviewParts } from './own-overview.ts'
import type { OwnOverview } from './own-overview.ts'

export type OverviewDeps = {
  instances: Pick<InstanceRegistry, 'has'>
  roster: Pick<Roster, 'current' | 'list'>
  /** Of instances that this node holds, from memory. */
  rows: RowDeps
  /** What the other nodes answer that answer in time: their own overviews. */
  readOthers: () => Promise<unknown[]>
  /** Of instances whose node does not answer, from the database. */
  readStoredRows: () => Promise<RowDeps>
  needs: NeedDeps
}

const Overview = Type.Object(
  {
    ...ownOverviewParts,
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
          'The answer comes from memory and asks no database, unless another node holds instances: that node is asked. ' +
          'The times of the last messages are stored every minute: after a crash they may be a minute too old. ' +
          'If another node does not answer within a second, its instances are shown as they are stored. Their times may be ' +
          'a minute too old, qr_available is false, and ban_level is ok.',
        response: { 200: Overview },
      },
    },
    () => readOverview(deps),
  )
}

export async function readOverview(deps: OverviewDeps): Promise<Static<typeof Overview>> {
  const others = (await deps.readOthers()).filter((answer) => isOwnOverview(answer))
  const [listed] = await Promise.all([listRows(deps, others), deps.needs.nodes.freshen()])
  const sum = (count: (row: (typeof listed)[number]) => number) => listed.reduce((all, row) => all + count(row), 0)
  return {
    needs_you: joinNeeds([listNeeds(deps.needs, listed), ...others.map((other) => other.needs_you)]),
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

/** What this node tells another one that makes an overview. */
export function readOwnOverview({ instances, roster, rows, needs }: OverviewDeps): OwnOverview {
  const held = roster.list().filter(({ record }) => instances.has(record.name))
  const listed = held.map((each) => toOverviewRow(rows, each))
  return { needs_you: listNeeds(needs, listed), instances: listed }
}

/** The database says which instances there are. Each is shown by its own node, as long as that one answers. */
async function listRows({ instances, roster, rows, readStoredRows }: OverviewDeps, others: readonly OwnOverview[]) {
  const told = new Map(others.flatMap((other) => other.instances).map((row) => [row.name, row]))
  const all = await roster.current()
  const isHere = all.map(({ record }) => instances.has(record.name))
  const isKnown = all.every(({ record }, index) => isHere[index] || told.has(record.name))
  const stored = isKnown ? rows : await readStoredRows()
  return all.map((each, index) => {
    if (isHere[index]) return toOverviewRow(rows, each)
    return told.get(each.record.name) ?? toOverviewRow(stored, each)
  })
}
