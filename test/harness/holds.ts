// The holds of a process that has taken the lease of a fresh database.

import type { InstanceName } from '../../src/core/ids.ts'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import type { Hold, Holds, NodeHold } from '../../src/core/nodes/hold.ts'

/** The node of the first epoch. Those of later epochs have the epoch behind it. */
export const testNode = 'test'

/** The first owner of a database has the epoch 1. */
export function holdOf(instance: InstanceName, epoch = 1): Hold {
  return { instance, ...nodeHold(epoch) }
}

export function nodeHold(epoch = 1): NodeHold {
  return { node: epoch === 1 ? testNode : `${testNode}${epoch}`, epoch }
}

/** For a process whose epoch changes. */
export function holdsAt(epoch: () => number): Holds {
  return { holdOf: (instance) => holdOf(instance, epoch()), nodeHold: () => nodeHold(epoch()) }
}

export const holds = holdsAt(() => 1)

/** For a process that has lost some instances to another one. */
export function holdsWithout(lost: ReadonlySet<InstanceName>, all = holds): Holds {
  return {
    ...all,
    holdOf: (instance) => {
      if (lost.has(instance)) throw new NotHeldError(instance)
      return all.holdOf(instance)
    },
  }
}
