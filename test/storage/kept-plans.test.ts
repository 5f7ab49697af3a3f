// PostgreSQL plans the beat once on each connection. Where it refuses a kept plan, the beat goes through without one.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Database } from '../../src/storage/database.ts'
import { PostgresEngine } from '../../src/storage/engine/postgres-engine.ts'
import { NodeStore } from '../../src/storage/stores/nodes/node-store.ts'
import { migratedLocation, withoutPostgres } from '../harness/databases.ts'
import { RecordedLog } from '../harness/logs.ts'
import { Bystander } from '../harness/postgres-bystander.ts'
import { joinedAt, sampleNode } from './harness/node-stage.ts'

/** One connection for everything, so that a test can do to it what a pooler does. The node has joined. */
class OneConnection {
  readonly nodes: NodeStore
  readonly log: RecordedLog
  readonly bystander: Bystander
  readonly #database: Database
  readonly #owned: AsyncDisposableStack

  private constructor(
    opened: { database: Database; log: RecordedLog; bystander: Bystander },
    owned: AsyncDisposableStack,
  ) {
    this.#database = opened.database
    this.log = opened.log
    this.bystander = opened.bystander
    this.nodes = new NodeStore(this.#database)
    this.#owned = owned
  }

  static async open(): Promise<OneConnection> {
    await using stack = new AsyncDisposableStack()
    const { location } = stack.use(await migratedLocation('postgres'))
    assert.ok(location.engine === 'postgres')
    const log = new RecordedLog()
    const { url } = location
    const { engine, vital } = await PostgresEngine.open({ url, encryptionKeys: [], log: log.log, connections: 1 })
    stack.use(vital)
    const database = stack.use(new Database('postgres', engine))
    const bystander = stack.use(await Bystander.connect(location))
    const stage = new OneConnection({ database, log, bystander }, stack.move())
    await stage.nodes.join(sampleNode('a'), joinedAt)
    return stage
  }

  async run(sql: string): Promise<void> {
    await this.#database.write({ sql, parameters: [] })
  }

  /** The number of the beat, which counts the beats that were made. */
  async beat(): Promise<number | null> {
    return (await this.nodes.beat('a')).mine
  }

  /** What the connection keeps plans for, and how often each of them ran. */
  plans(): Promise<{ name: string; runs: number; reused: number }[]> {
    const sql = `SELECT name, generic_plans + custom_plans AS runs, generic_plans AS reused FROM pg_prepared_statements`
    return this.#database.writeReturning({ sql, parameters: [] })
  }

  async planName(): Promise<string> {
    const [plan] = await this.plans()
    return plan?.name ?? assert.fail('no plan is kept')
  }

  refusals(): unknown[] {
    return this.log.withMessage('the database keeps no plan, so it plans each beat anew').map(({ code }) => code)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}

describe('kept plans', { skip: withoutPostgres }, () => {
  test('PostgreSQL plans the beats of a connection once', async () => {
    await using stage = await OneConnection.open()
    for (let beats = 1; beats <= 10; beats++) assert.equal(await stage.beat(), beats)
    const [plan, ...others] = await stage.plans()
    // PostgreSQL tries five plans before it keeps one.
    assert.deepEqual([plan?.runs, plan?.reused, others], [10, 5, []])
    assert.deepEqual(stage.refusals(), [])
  })

  test('a migration that adds a column to the nodes leaves the plan of a beat in use', async () => {
    await using stage = await OneConnection.open()
    await stage.beat()
    await stage.bystander.query('ALTER TABLE nodes ADD COLUMN another TEXT')
    assert.equal(await stage.beat(), 2)
    assert.deepEqual([(await stage.plans())[0]?.runs, stage.refusals()], [2, []])
  })

  test('a migration that changes the type of a column fails no beat', async () => {
    await using stage = await OneConnection.open()
    await stage.beat()
    await stage.bystander.query('ALTER TABLE nodes ALTER COLUMN capacity TYPE BIGINT')
    assert.deepEqual([await stage.beat(), await stage.beat()], [2, 3])
    assert.deepEqual(stage.refusals(), ['0A000'])
  })

  test('behind a pooler, a connection that does not know the plan fails no beat', async () => {
    await using stage = await OneConnection.open()
    await stage.beat()
    await stage.run('DEALLOCATE ALL')
    assert.deepEqual([await stage.beat(), await stage.beat()], [2, 3])
    assert.deepEqual([await stage.plans(), stage.refusals()], [[], ['26000']])
  })

  test('behind a pooler, a connection that has the plan of another client fails no beat', async () => {
    await using other = await OneConnection.open()
    await other.beat()
    const name = await other.planName()
    await using stage = await OneConnection.open()
    await stage.run(`PREPARE ${name} AS SELECT 1`)
    assert.deepEqual([await stage.beat(), await stage.beat()], [1, 2])
    assert.deepEqual(stage.refusals(), ['42P05'])
  })

  test('behind a pooler, a name that stands for another statement fails no beat', async () => {
    await using stage = await OneConnection.open()
    await stage.beat()
    const name = await stage.planName()
    await stage.run('DEALLOCATE ALL')
    await stage.run(`PREPARE ${name} AS SELECT 1`)
    assert.deepEqual([await stage.beat(), await stage.beat()], [2, 3])
    assert.deepEqual(stage.refusals(), ['08P01'])
  })

  test('after a beat that failed for another reason, plans are kept as before', async () => {
    await using stage = await OneConnection.open()
    await stage.beat()
    await stage.bystander.query('ALTER TABLE nodes ADD CHECK (beat < 2)')
    await assert.rejects(stage.beat(), { failure: 'constraint' })
    await stage.bystander.query('ALTER TABLE nodes DROP CONSTRAINT nodes_beat_check')
    assert.equal(await stage.beat(), 2)
    assert.deepEqual([(await stage.plans()).length, stage.refusals()], [1, []])
  })
})
