// A process stands still in the middle of a write. The database ends its transaction; without that no node could take its instances.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPool } from '../../../src/storage/engine/postgres-pool.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { joinedAt, NodeStage } from '../harness/node-stage.ts'

const fence = (instance: string) => `SELECT epoch FROM assignments WHERE instance = '${instance}' FOR SHARE`

/** A connection of the service that has passed a fence and sends nothing more. Resolves when it has the lock. */
async function standStill({ location }: NodeStage, instance: string, stack: AsyncDisposableStack): Promise<void> {
  assert.ok(location.engine === 'postgres')
  const pool = createPool(location.url, { connections: 1, deadlineMs: 30_000 }, silentLog)
  stack.defer(() => pool.end())
  const client = await pool.connect()
  stack.defer(() => {
    client.release(true)
  })
  client.on('error', () => undefined)
  await client.query('BEGIN')
  await client.query(fence(instance))
}

test(
  'the instances of a process that stands still in a transaction are taken over, and never without the timeout',
  { skip: withoutPostgres },
  async () => {
    await using stack = new AsyncDisposableStack()
    const stage = stack.use(await NodeStage.open('a', 'b'))
    for (const instance of ['protected', 'unprotected', 'quiet']) await stage.create(instance, 'a')
    // This client has no timeout.
    await stage.locker.hold(fence('unprotected'))
    await standStill(stage, 'protected', stack)
    const placements = ['protected', 'quiet', 'unprotected'].map((instance) => ({ instance, node: 'b' }))
    assert.ok(await stage.nodes.bury(await stage.seen('a'), placements, joinedAt), 'the burial does not wait')
    assert.equal((await stage.owners())['quiet'], 'b')
    const place = async () => {
      const placed = await stage.assignments.place(placements, joinedAt)
      return placed.map(({ instance }) => instance)
    }
    let placed: string[] = []
    await waitUntil('an instance is free', async () => (placed = await place()).length > 0)
    assert.deepEqual(placed, ['protected'])
    assert.deepEqual(await place(), [], 'the other one stays locked')
    await stage.locker.release()
    assert.deepEqual(await place(), ['unprotected'])
  },
)
