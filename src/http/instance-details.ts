// The details of all instances, on any node. Each instance is shown by the node that holds it: only that one knows its QR code
// and its attempts to connect. If that node does not answer, the instance is shown as it is stored.

import type { Static } from 'typebox'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import type { Roster } from '../instances/roster/roster.ts'
import type { Clock } from '../lib/clock.ts'
import { toDetail } from './instance-view.ts'
import type { Detail } from './instance-view.ts'
import type { OwnSettingRules } from './own-settings.ts'
import { preferTold } from './told-rows.ts'
import type { ToldRows } from './told-rows.ts'

export type DetailDeps = {
  /** Those that this node holds. */
  instances: Pick<InstanceRegistry, 'has'>
  /** All of them. */
  roster: Pick<Roster, 'current' | 'list'>
  /** What the other nodes answer that answer in time: the details of what they hold. */
  readOthers: () => Promise<unknown[]>
  clock: Pick<Clock, 'now'>
  /** The settings that an instance can have of its own. */
  ownSettings: OwnSettingRules
}

type DetailRow = Static<typeof Detail>

/** By name. */
export async function readDetails(deps: DetailDeps): Promise<DetailRow[]> {
  const { instances, roster, readOthers, clock, ownSettings } = deps
  const told = preferTold<DetailRow>(await readOthers(), ({ name }) => name)
  return (await roster.current()).map((account) => {
    const detail = toDetail(ownSettings, account, clock.now())
    return instances.has(detail.name) ? detail : told(detail)
  })
}

/** What this node tells another one. */
export function readOwnDetails({ instances, roster, clock, ownSettings }: DetailDeps): ToldRows<DetailRow> {
  const held = roster.list().filter(({ record }) => instances.has(record.name))
  return { rows: held.map((account) => toDetail(ownSettings, account, clock.now())) }
}
