// The right to write for an instance. A write carries it, and the database refuses the write when another node has the right.

import type { InstanceName } from '../ids.ts'

/** Random. A process gets a new one with every start, and when it joins again after the others gave it up. */
export type NodeId = string

/** The right to do the work that belongs to no instance. On SQLite `epoch` is the one of the lease. */
export type NodeHold = Readonly<{ node: NodeId; epoch: number }>

/** The right to write for one instance. Each change of its owner gives it a higher epoch. */
export type Hold = Readonly<{
  instance: InstanceName
  node: NodeId
  epoch: number
  /** The right of the first node: the database refuses it while the instance exists. */
  isDeleted?: true
}>

/** Throws `NotHeldError` when this node does not hold the instance. */
export type HoldOf = (instance: InstanceName) => Hold

/** A stand-in writes with the right of its node: it holds no instance. */
export type WriterHoldOf = (instance: InstanceName) => Hold | NodeHold

/** The rights of this process. */
export type Holds = { holdOf: HoldOf; nodeHold: () => NodeHold }

/** Leaves out work for instances that this node has lost: it is the work of their holders now. */
export async function unlessLost(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof NotHeldError)) throw error
  }
}

export class NotHeldError extends Error {
  /** Without an instance the node itself has lost its right to write. */
  constructor(instance?: InstanceName) {
    const lost = instance === undefined ? 'is given up' : `does not hold the instance ${JSON.stringify(instance)}`
    super(`this node ${lost}`)
    this.name = 'NotHeldError'
  }
}
