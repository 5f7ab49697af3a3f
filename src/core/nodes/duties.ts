// Which part of the work of the service this process does.

import type { InstanceName } from '../ids.ts'
import type { HoldOf, Holds } from './hold.ts'

export type Duties = {
  /** Whether this node holds the instance, and so does all work on it. */
  holds(instance: InstanceName): boolean
  /** The instances that this node holds. `all`: this process alone uses the database, so no read needs their names. */
  held(): readonly InstanceName[] | 'all'
  /** Whether this node does the work that belongs to no instance. One node at a time does: the active one with the smallest id. */
  isFirst(): boolean
  /** How many active nodes share a limit towards a helpdesk or a subscriber; at least 1. */
  sharers(): number
}

/**
 * Which rows of a table with many instances a read returns. `withDeleted`: also those of instances that do not exist any more.
 * Those rows have no holder, so the first node works on them.
 */
export type RowScope = 'all' | Readonly<{ held: readonly InstanceName[]; withDeleted: boolean }>

export function heldRows(duties: Pick<Duties, 'held'>): RowScope {
  const held = duties.held()
  return held === 'all' ? held : { held, withDeleted: false }
}

export function heldAndDeletedRows(duties: Pick<Duties, 'held' | 'isFirst'>): RowScope {
  const held = duties.held()
  return held === 'all' ? held : { held, withDeleted: duties.isFirst() }
}

/** The part of a limit that belongs to this node. */
export function shareOf(limit: number, duties: Pick<Duties, 'sharers'>): number {
  return Math.max(1, Math.ceil(limit / duties.sharers()))
}

/**
 * For rows that outlive their instance. An instance that does not exist has no holder, so any node may write them. The database
 * refuses the write when the instance exists after all.
 */
export function holdOfDeletedToo({ holdOf, nodeHold }: Holds, duties: Pick<Duties, 'holds'>): HoldOf {
  return (instance) => (duties.holds(instance) ? holdOf(instance) : { instance, ...nodeHold(), isDeleted: true })
}
