// A service that starts with a large backlog of messages to deliver: soon ready, and in bounded memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noDestination } from '../../harness/destination.ts'
import { storeBacklog } from '../../harness/inbox-backlog.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import type { Health } from '../../harness/world.ts'

// Fewer rows are longer ones: all of them never fit into the heap.
const backlogs = [
  { rows: rounds({ gate: 6000, long: 100_000 }), chats: 200, textBytes: rounds({ gate: 30_000, long: 1000 }) },
  ...(rounds({ gate: 0, long: 1 }) === 1 ? [{ rows: 2000, chats: 2000, textBytes: 60_000 }] : []),
]
// The ids need 60 MB at most, the rows more than 180 MB: a process that held the rows would end here.
const heapLimit = '--max-old-space-size=160'

for (const { rows, chats, textBytes } of backlogs) {
  test(`a backlog of ${rows} messages of ${chats} chats is taken up without holding it in memory`, async () => {
    // There is no destination: everything waits.
    const environment = { NODE_OPTIONS: heapLimit, ...noDestination }
    await using world = await ProcessWorld.open({
      environment,
      seed: (database) => storeBacklog(database, { rows, chats, textBytes }),
    })
    const { checks } = (await world.service.get('/api/health')).body as Health
    assert.equal(checks.inbox_pending, rows)
    const longest = () => world.metric('service_inbound_lane_longest')
    await waitUntil(
      'all messages are in their queues',
      async () => {
        const queued = await world.metric('service_inbound_lanes')
        return queued === chats && (await longest()) === rows / chats
      },
      { timeoutMs: 300_000 },
    )
  })
}
