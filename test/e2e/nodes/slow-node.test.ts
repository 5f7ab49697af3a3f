// A node whose event loop stands still again and again lowers its capacity, so that instances move away from it.

import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { Service } from '../../harness/service.ts'
import { nodeSettings } from '../../harness/stranger.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const capacity = 200
/** Ten seconds of the clock of the service are half a second. */
const speed = 20
const stillMs = 600

/** Nothing runs in this process meanwhile. */
function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stillMs)
}

/** Between two times at which it stands still, the loop has one turn. */
async function beSlow(): Promise<void> {
  for (let times = 0; times < 4; times++) {
    standStill()
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
}

test('a slow node lowers its capacity, and the others see it', { skip: withoutPostgres }, async () => {
  const environment = { ...(await nodeSettings('owner')), SERVICE_NODE_CAPACITY: String(capacity) }
  await using service = await Service.start({ engine: 'postgres', environment, clock: new FastClock(speed) })
  const shown = async () => {
    const { nodes } = (await service.get('/api/nodes')).body as { nodes: { capacity: number }[] }
    return nodes[0]?.capacity ?? NaN
  }
  await waitUntil('the capacity is lower', async () => {
    await beSlow()
    return (await shown()) < capacity
  })
})
