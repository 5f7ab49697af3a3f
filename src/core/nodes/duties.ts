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

export function heldRows({ held }: Pick<Duties, 'held'>): RowScope {
  const names = held()
  return names === 'all' ? 'all' : { held: names, withDeleted: false }
}

export function heldAndDeletedRows({ held, isFirst }: Pick<Duties, 'held' | 'isFirst'>): RowScope {
  const names = held()
  return names === 'all' ? 'all' : { held: names, withDeleted: isFirst() }
}

/** The part of a limit that belongs to this node. */
export function shareOf(limit: number, { sharers }: Pick<Duties, 'sharers'>): number {
  return Math.max(1, Math.ceil(limit / sharers()))
}

/** For rows that outlive their instance: the first node writes them, because an instance that does not exist has no holder. */
export function holdOfDeletedToo({ holdOf, nodeHold }: Holds, { holds, isFirst }: Duties): HoldOf {
  return (instance) => (holds(instance) || !isFirst() ? holdOf(instance) : { instance, ...nodeHold(), isDeleted: true })
}
