// Writes of several instances on PostgreSQL that come at the same time.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Hold } from '../../src/core/nodes/hold.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { InstanceStore } from '../../src/storage/stores/accounts/instance-store.ts'
import { SessionKeyStore } from '../../src/storage/stores/accounts/session-key-store.ts'
import { CommitCutter } from '../harness/commit-cutter.ts'
import { withoutPostgres } from '../harness/databases.ts'
import { silentLog } from '../harness/logs.ts'
import { sampleAudit, sampleInstanceColumns } from '../harness/samples.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { NodeStage } from './harness/node-stage.ts'

function writeKey(keys: SessionKeyStore, hold: Hold): Promise<void> {
  return keys.save(hold, hold.instance, [{ kind: 'session', id: 'key', value: new Uint8Array(1) }])
}

async function openStage(instances: readonly string[]) {
  const stage = await NodeStage.open('node')
  const keys = new SessionKeyStore(stage.database)
  const holds: Hold[] = []
  for (const instance of instances) holds.push(await stage.create(instance, 'node'))
  const write = (hold: Hold) => writeKey(keys, hold)
  const stored = async () =>
    (await stage.bystander.query('SELECT session_id FROM session_keys ORDER BY 1')).map(({ session_id: id }) => id)
  return { stage, holds, write, stored, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

const letters = (count: number) => Array.from({ length: count }, (_, index) => String.fromCharCode(97 + index))

describe('writes that share a commit', { skip: withoutPostgres }, () => {
  test('writes that come together are stored in two transactions: the first, and all others', async () => {
    await using opened = await openStage(letters(20))
    await Promise.all(opened.holds.map(opened.write))
    assert.deepEqual(await opened.stored(), letters(20))
    const rows = await opened.stage.bystander.query('SELECT DISTINCT xmin::text AS id FROM session_keys')
    assert.equal(rows.length, 2)
  })

  test('a stale hold refuses its own write, and no other one', async () => {
    await using opened = await openStage(letters(5))
    const holds = opened.holds.map((hold) => (hold.instance === 'c' ? { ...hold, epoch: hold.epoch + 1 } : hold))
    const outcomes = await Promise.allSettled(holds.map(opened.write))
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
    assert.deepEqual(await opened.stored(), ['a', 'b', 'd', 'e'])
  })

  test('a write that waits for a lock holds up only itself', async () => {
    await using opened = await openStage(letters(4))
    const [a, b, c, d] = opened.holds
    assert.ok(a && b && c && d)
    await opened.stage.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'b' FOR UPDATE`)
    const first = opened.write(a)
    const waiting = opened.write(b)
    // It shares the commit of the one that waits.
    await Promise.all([first, opened.write(c)])
    await opened.write(d)
    assert.deepEqual(await opened.stored(), ['a', 'c', 'd'])
    await opened.stage.locker.release()
    await waiting
    assert.deepEqual(await opened.stored(), letters(4))
  })

  test('a write behind the deletion of its instance is refused', async () => {
    await using opened = await openStage(letters(2))
    const { stage, holds, write } = opened
    const [a, b] = holds
    assert.ok(a && b)
    await stage.database.write(stage.database.query.insertInto('instances').values(sampleInstanceColumns('b')))
    await stage.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'a' FOR UPDATE`)
    const waiting = write(a)
    // Both come while a commit is under way. In one commit the right would be checked once, before the deletion.
    const deleted = new InstanceStore(stage.database).remove(b, null, sampleAudit())
    const late = write(b)
    await assert.rejects(late, { failure: 'expectation' })
    await deleted
    await stage.locker.release()
    await waiting
    assert.deepEqual(await opened.stored(), ['a'])
  })

  test('when the process stands still before a shared commit, each write is made again', async () => {
    await using opened = await openStage(letters(3))
    const { stage, holds, stored } = opened
    assert.ok(stage.location.engine === 'postgres')
    await using relay = await CommitCutter.to(stage.location.url)
    const location = { engine: 'postgres', url: relay.url } as const
    await using database = await openDatabase({ location, encryptionKeys: [], log: silentLog })
    const keys = new SessionKeyStore(database)
    await stage.locker.hold(`SELECT 1 FROM assignments WHERE instance = 'a' FOR UPDATE`)
    const first = holds.slice(0, 1).map((hold) => writeKey(keys, hold))
    await stage.bystander.blocked(1)
    relay.holdAt = 'COMMIT'
    const others = holds.slice(1).map((hold) => writeKey(keys, hold))
    await waitUntil('the shared commit is held back', () => relay.holdAt === undefined)
    await stage.locker.release()
    await Promise.all([...first, ...others])
    assert.deepEqual(await stored(), letters(3))
  })
})
