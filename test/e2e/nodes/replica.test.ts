// The primary of PostgreSQL dies under traffic, and its replica takes over.

import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { ClusterStage } from './harness/cluster-stage.ts'
import { patienceMs } from './harness/node-set.ts'
import { ReplicatedServer } from './harness/replicated-server.ts'

const options = { skip: withoutPostgres, timeout: 600_000 }
const size = { nodes: 2, accounts: 2, customersPerAccount: 1 }

function acceptsMore({ traffic }: ClusterStage, count: number): Promise<void> {
  const before = traffic.counts.accepted
  return waitUntil(`${count} more answers are accepted`, () => traffic.counts.accepted >= before + count, {
    timeoutMs: patienceMs,
  })
}

test('a synchronous replica takes over: nothing is lost, doubled, out of order or unreadable', options, async () => {
  await using server = await ReplicatedServer.start({ isSynchronous: true })
  await using stage = await ClusterStage.open({ ...size, replicated: server })
  stage.traffic.start()
  await acceptsMore(stage, 3)
  await server.failOver()
  await stage.restore()
  await acceptsMore(stage, 3)
  await stage.assertNothingWrong()
})

test('a replica that was behind takes over: health says that confirmed data is lost', options, async () => {
  await using server = await ReplicatedServer.start({ isSynchronous: false })
  await using stage = await ClusterStage.open({ ...size, replicated: server })
  stage.traffic.start()
  await acceptsMore(stage, 3)
  await server.fallBehind()
  await acceptsMore(stage, 5)
  await server.failOver()
  await stage.restore()
  const isTold = async () =>
    (await stage.ask({ method: 'GET', path: '/api/health' })).text.includes('"database_set_back_at":"')
  await waitUntil('health tells it', isTold, { timeoutMs: patienceMs })
})
