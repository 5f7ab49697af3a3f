// The duties of the only process on its database: it does all work.

import type { Duties } from '../../core/nodes/duties.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'

/** The registry is created later than the first part that asks for its duties. */
export function onlyNodeDuties(registry: () => Pick<InstanceRegistry, 'has'>): Duties {
  return {
    holds: (instance) => registry().has(instance),
    held: () => 'all',
    isFirst: () => true,
    sharers: () => 1,
  }
}
