// The order in which a node connects the instances that it has just got.

import type { InstanceName } from '../../core/ids.ts'

/** At a start all machines may connect at once, so few connect at a time. */
export const connectsAtStart = 8

/** After a death customers wait, and only the instances of one node connect. */
export const connectsAfterDeath = 32

/**
 * Those with waiting messages come first. The rest of the order is drawn, so that nodes which share the instances of a dead node
 * do not all begin with those of one helpdesk.
 */
export function connectOrder(
  instances: readonly InstanceName[],
  hasWaiting: (instance: InstanceName) => boolean,
  random: () => number = Math.random,
): InstanceName[] {
  return instances
    .map((instance) => ({ instance, turn: random() + (hasWaiting(instance) ? 0 : 1) }))
    .sort((one, other) => one.turn - other.turn)
    .map(({ instance }) => instance)
}
