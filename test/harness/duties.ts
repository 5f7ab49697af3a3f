// The duties of a process in a test.

import type { InstanceName } from '../../src/core/ids.ts'
import type { Duties } from '../../src/core/nodes/duties.ts'

/** For the only process on its database. */
export const allDuties: Duties = {
  holds: () => true,
  held: () => 'all',
  isFirst: () => true,
  sharers: () => 1,
}

/** For a node that holds these instances and has peers. */
export function dutiesOf(held: readonly InstanceName[], others: Partial<Duties> = {}): Duties {
  return {
    holds: (name) => held.includes(name),
    held: () => held,
    isFirst: () => false,
    sharers: () => 2,
    ...others,
  }
}
