// Every background worker of the service has a scope: which node does its work.

import '../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNodeWorkers } from '../../src/app/nodes/create-node-workers.ts'
import { limitToDuties, workerScopes } from '../../src/app/nodes/worker-scopes.ts'
import { Ticker } from '../../src/lib/ticker.ts'
import { withoutPostgres } from '../harness/databases.ts'
import { silentLog } from '../harness/logs.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { Service } from '../harness/service.ts'
import { joinedAt, NodeStage } from '../storage/harness/node-stage.ts'

const environment = {
  DOWNSTREAM_BASE_URL: 'http://127.0.0.1:9',
  DOWNSTREAM_API_TOKEN: 'token',
  DOWNSTREAM_ACCOUNT_ID: '1',
  // Nothing listens there. With it, imported messages get their dates in the database of the helpdesk.
  DOWNSTREAM_DB_URL: 'postgres://127.0.0.1:9/chatwoot',
  SERVICE_LABELS_SYNC: 'true',
}

test('every worker of the service has a scope, and every scope has a worker', { skip: withoutPostgres }, async () => {
  await using service = await Service.start({ environment, engine: 'postgres' })
  assert.deepEqual([...service.app.workers.keys()].sort(), Object.keys(workerScopes).sort())
})

test('nodes that ended more than a week ago are removed, others stay', { skip: withoutPostgres }, async () => {
  await using stage = await NodeStage.open('old', 'young', 'alive')
  const { nodes } = stage
  const week = 7 * 86_400_000
  await nodes.end('old', joinedAt)
  await nodes.end('young', joinedAt + 2)
  const membership = { databaseNow: () => joinedAt + 1 + week }
  const [worker] = createNodeWorkers({ clock: new ManualClock(), log: silentLog }, { membership, tables: { nodes } })
  await worker?.tick()
  const rows = await stage.database.read(stage.database.query.selectFrom('nodes').select('id').orderBy('id'))
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['alive', 'young'],
  )
})

test('the workers of the first node rest on every other one, and all others work', async () => {
  const ran: string[] = []
  const workers = ['outbox-prune', 'outbox-drain', 'usage-flush'].map(
    (name) =>
      new Ticker({
        ...{ name, everyMs: 1000, clock: new ManualClock(), log: silentLog },
        work: () => Promise.resolve(void ran.push(name)),
      }),
  )
  let isFirst = false
  limitToDuties(workers, { isFirst: () => isFirst })
  for (const worker of workers) await worker.tick()
  assert.deepEqual(ran, ['outbox-drain', 'usage-flush'])
  isFirst = true
  await workers[0]?.tick()
  assert.equal(ran.at(-1), 'outbox-prune')
})

test('a worker without a scope does not start', () => {
  const worker = new Ticker({
    ...{ name: 'unknown', everyMs: 1000, clock: new ManualClock(), log: silentLog },
    work: () => Promise.resolve(),
  })
  assert.throws(() => {
    limitToDuties([worker], { isFirst: () => true })
  }, /has no scope: add it to/)
})
