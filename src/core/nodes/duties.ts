// Which part of the work of the service this process does.

import type { InstanceName } from '../ids.ts'

export type Duties = {
  /** Whether this node holds the instance, and so does all work on it. */
  holds(instance: InstanceName): boolean
  /** The instances that this node holds. */
  held(): InstanceName[]
  /** Whether this node does the work that belongs to no instance. One node at a time does: the active one with the smallest id. */
  isFirst(): boolean
  /** How many active nodes share a limit towards a helpdesk or a subscriber; at least 1. */
  sharers(): number
}
