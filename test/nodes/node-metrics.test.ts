// What a node counts about its work with the database and with other nodes.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CountedAssignmentStore, CountedNodeStore } from '../../src/app/nodes/counted-stores.ts'
import { Metrics } from '../../src/ledger/metrics.ts'
import { withoutPostgres } from '../harness/databases.ts'
import { freePort } from '../harness/free-port.ts'
import { requestFrom } from '../harness/http-request.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { joinedAt, NodeStage } from '../storage/harness/node-stage.ts'
import { startPair } from './harness/two-nodes.ts'

async function valuesOf(metrics: Metrics, ...series: string[]): Promise<(number | undefined)[]> {
  const lines = (await metrics.exposition()).split('\n')
  return series.map((each) => {
    const line = lines.find((text) => text.startsWith(`${each} `))
    return line === undefined ? undefined : Number(line.slice(each.length + 1))
  })
}

const moves = ['placed', 'hand_over', 'death'].map((reason) => `service_instance_moves_total{reason="${reason}"}`)
const beats = ['service_beat_seconds_count', 'service_beats_failed_total']
const forwards = ['answered', 'refused', 'failed'].map((outcome) => `service_forwards_total{outcome="${outcome}"}`)

describe('of the database', { skip: withoutPostgres }, () => {
  test('each move counts once, by its reason; a change that is refused counts nothing', async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    const metrics = new Metrics({ version: '1' })
    const nodes = new CountedNodeStore(stage.database, metrics.nodes, new ManualClock())
    const assignments = new CountedAssignmentStore(stage.database, metrics.nodes)
    assert.deepEqual(await valuesOf(metrics, ...moves), [0, 0, 0])
    for (const name of ['x', 'y', 'z']) await stage.createFree(name)
    const at = (node: string) => ['x', 'y', 'z'].map((instance) => ({ instance, node }))
    await assignments.place(at('a'), joinedAt)
    await assignments.place(at('b'), joinedAt)
    const hold = await stage.holdOf('x')
    await assignments.handOver(hold, 'b', joinedAt)
    await assignments.handOver(hold, 'c', joinedAt)
    const seen = await stage.seen('a')
    await nodes.bury({ ...seen, beat: seen.beat + 1 }, at('c').slice(1), joinedAt)
    await nodes.bury(seen, at('c').slice(1), joinedAt)
    assert.deepEqual(await valuesOf(metrics, ...moves), [3, 1, 2])
  })

  test('a beat counts with its time; one that is refused or late has failed', async () => {
    await using stage = await NodeStage.open('a')
    const metrics = new Metrics({ version: '1' })
    const clock = new ManualClock()
    const nodes = new CountedNodeStore(stage.database, metrics.nodes, clock)
    await nodes.beat('a')
    assert.deepEqual(await valuesOf(metrics, ...beats), [1, 0])
    const late = nodes.beat('a')
    await clock.advance(1501)
    await late
    assert.deepEqual(await valuesOf(metrics, ...beats), [1, 1])
    await stage.bystander.query('DELETE FROM cluster')
    await assert.rejects(nodes.beat('a'))
    assert.deepEqual(await valuesOf(metrics, ...beats), [1, 2])
  })
})

test('requests to other nodes count by what became of them, and callbacks that are stored in their place by the status', async () => {
  await using pair = await startPair()
  const { stranger, owner } = pair
  const post = () => requestFrom(stranger.url, 'POST', '/api/instances/shop/webhook', { body: '{}' })
  await post()
  assert.deepEqual(await valuesOf(stranger.metrics, ...forwards), [1, 0, 0])
  owner.standing = 'leaving'
  await post()
  assert.deepEqual(await valuesOf(stranger.metrics, ...forwards), [1, 1, 0])
  stranger.owners.answers = [{ id: 'gone', epoch: 1, address: `http://127.0.0.1:${await freePort()}` }]
  await post()
  const [answered, refused, failed] = await valuesOf(stranger.metrics, ...forwards)
  assert.deepEqual([answered, refused], [1, 1])
  assert.ok((failed ?? 0) > 0)
  assert.deepEqual(await valuesOf(stranger.metrics, 'service_stand_in_callbacks_total{status="202"}'), [2])
})
