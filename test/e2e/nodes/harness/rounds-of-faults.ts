// The faults of the rounds, by name. A seed decides which node they strike and how long they last.

import type { SeededRandom } from '../../../../sim/network/seeded-random.ts'
import type { ClusterStage } from './cluster-stage.ts'
import * as faults from './faults.ts'
import type { StageNode } from './stage-node.ts'

type Struck = { stage: ClusterStage; node: StageNode; random: SeededRandom }

const hourMs = 3_600_000

/** Those that need nothing of the stage come first. */
const all = {
  kill: ({ stage, node }: Struck) => faults.kill(stage, node),
  terminate: ({ stage, node }: Struck) => faults.terminate(stage, node),
  cut: ({ stage, node }: Struck) => faults.cut(stage, node),
  'stop in a transaction': ({ stage, node }: Struck) => faults.stopInTransaction(stage, node),
  stop: ({ stage, node }: Struck) => faults.stop(stage, node),
  'stop briefly': ({ node }: Struck) => faults.stopBriefly(node, 2000),
  'short outage': ({ stage }: Struck) => faults.outage(stage, 2000),
  'long outage': ({ stage }: Struck) => faults.outage(stage, 9000),
  'longest outage': ({ stage }: Struck) => faults.outage(stage, 40_000),
  'all apart': ({ stage }: Struck) => faults.apart(stage, 6000),
  'kill while ending': ({ stage, node, random }: Struck) => faults.killWhileEnding(stage, node, random.below(1500)),
  'kill the placing node': async ({ stage }: Struck) => faults.kill(stage, await stage.nodes.placingNode()),
  'cut from peers': ({ node, random }: Struck) => faults.cutFromPeers(node, 2000 + random.below(4000)),
  crash: ({ stage, random }: Struck) => faults.crash(stage, random.below(6000)),
  'clock ahead': ({ node }: Struck) => faults.stepClock(node, hourMs, 3000),
  'clock behind': ({ node }: Struck) => faults.stepClock(node, -hourMs, 3000),
  'database clock ahead': ({ stage }: Struck) => faults.stepDatabaseClock(stage, hourMs, 6000),
  'database clock behind': ({ stage }: Struck) => faults.stepDatabaseClock(stage, -hourMs, 6000),
  join: ({ stage }: Struck) => faults.join(stage),
}

export type FaultName = keyof typeof all
export const faultNames = Object.keys(all) as readonly FaultName[]

/** The fault strikes the node that holds an instance, or any node. */
export async function strike(stage: ClusterStage, fault: FaultName, random: SeededRandom): Promise<void> {
  const { instances } = stage
  const instance = instances[random.below(instances.length)] ?? 'n0'
  await all[fault]({ stage, node: await stage.ownerOf(instance), random })
}
