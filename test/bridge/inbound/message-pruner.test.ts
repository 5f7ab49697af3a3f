import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toStatement } from '../../../src/storage/engine/statement.ts'
import { BridgeBed } from './harness/bridge-bed.ts'

/** Stores records of messages that were claimed at that time. */
async function storeRecords(bed: BridgeBed, instance: string, count: number, claimedAt: number): Promise<void> {
  await bed.database.write({
    sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
          INSERT INTO message_map (id, instance, destination, chat, sender, network_id, kind, direction, network_key,
            network_at, claimed_at)
          SELECT ? || i, ?, 'desk', 'chat', 'me', ? || i, 'message', 'in', '{}', 0, ? FROM n`,
    parameters: [count, `${instance}${claimedAt}-`, instance, `${claimedAt}-`, claimedAt],
  })
}

test('old records and records of deleted instances are removed, however many there are', async () => {
  await using bed = await BridgeBed.open({ environment: { SERVICE_MESSAGE_MAP_TTL: '24h' } })
  const now = bed.clock.now()
  await storeRecords(bed, 'a', 2500, now - 25 * 3_600_000)
  await storeRecords(bed, 'a', 3, now - 23 * 3_600_000)
  await storeRecords(bed, 'deleted', 2500, now)
  await bed.set.workers.find(({ name }) => name === 'message-map-prune')?.tick()
  const rows = await bed.database.read(bed.database.query.selectFrom('message_map').select('instance'))
  assert.deepEqual(
    rows.map(({ instance }) => instance),
    ['a', 'a', 'a'],
  )
})

test('a prune takes few records with each commit, so that a message waits little', async () => {
  await using bed = await BridgeBed.open({ environment: { SERVICE_MESSAGE_MAP_TTL: '24h' } })
  await storeRecords(bed, 'a', 12, bed.clock.now() - 25 * 3_600_000)
  const removed: number[] = []
  const write = bed.database.write.bind(bed.database)
  bed.database.write = async (...steps) => {
    const touched = await write(...steps)
    const texts = steps.map((step) => ('sql' in step ? step.sql : toStatement(step).sql))
    const isRemoval = texts.some((text) => text.startsWith('delete from "message_map"'))
    if (isRemoval) removed.push(touched.at(-1) ?? 0)
    return touched
  }
  await bed.set.workers.find(({ name }) => name === 'message-map-prune')?.tick()
  assert.deepEqual(removed, [5, 5, 2])
})
