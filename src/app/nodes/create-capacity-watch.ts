// Creates the watch of a node over its own speed.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { CapacityWatch } from '../../nodes/capacity-watch.ts'
import type { Base } from '../base.ts'
import type { NodeParts } from './create-node.ts'

const resolutionMs = 20
const nanosecondsPerMs = 1_000_000

export function createCapacityWatch(base: Base, { membership, tables }: NodeParts): CapacityWatch {
  const { config, clock, log, stack } = base
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  stack.defer(() => {
    delays.disable()
  })
  return stack.use(
    new CapacityWatch({
      nodes: tables.nodes,
      id: () => membership.id,
      isBeating: () => membership.state === 'active' || membership.state === 'draining',
      capacity: config.nodes.capacity,
      sample: () => {
        const loopDelayP99Ms = delays.percentile(99) / nanosecondsPerMs
        delays.reset()
        return { loopDelayP99Ms, beatMs: membership.beatMs }
      },
      ...{ clock, log },
    }),
  )
}
