// One process of several ends, stands still or is cut off under traffic: the others take over, and nothing is lost, doubled, out
// of order or unreadable.

import { describe, test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { ClusterStage } from './harness/cluster-stage.ts'
import * as faults from './harness/faults.ts'
import type { StageNode } from './harness/stage-node.ts'

type Fault = (stage: ClusterStage, node: StageNode) => Promise<void>

const fates: Readonly<Record<string, Fault>> = {
  'is killed': faults.kill,
  'gets SIGTERM': faults.terminate,
  'is cut off from PostgreSQL': faults.cut,
}

// Side by side: most of the time passes until the others give a process up.
describe('the process that holds an account', { concurrency: true, skip: withoutPostgres }, () => {
  for (const [name, happens] of Object.entries(fates)) {
    test(`${name}: another one takes over`, async () => {
      await using stage = await ClusterStage.open({ nodes: 2 })
      stage.traffic.start()
      await happens(stage, await stage.ownerOf('n0'))
      await stage.restore()
      await stage.assertNothingWrong()
    })
  }
})
