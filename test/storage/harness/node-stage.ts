// Nodes and assignments on a PostgreSQL of their own, and a second client that holds locks.

import assert from 'node:assert/strict'
import { Database } from '../../../src/storage/database.ts'
import { PostgresEngine } from '../../../src/storage/engine/postgres-engine.ts'
import type { DatabaseLocation } from '../../../src/core/database-location.ts'
import type { Hold } from '../../../src/core/nodes/hold.ts'
import type { NewNode } from '../../../src/core/nodes/node.ts'
import { createAssignmentFence } from '../../../src/storage/stores/nodes/assignment-fence.ts'
import { assignmentInsert } from '../../../src/storage/stores/nodes/assignment-steps.ts'
import { AssignmentStore } from '../../../src/storage/stores/nodes/assignment-store.ts'
import { NodeStore } from '../../../src/storage/stores/nodes/node-store.ts'
import { migratedLocation } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { Bystander } from '../../harness/postgres-bystander.ts'
import { RowLocker } from './row-locker.ts'

export const joinedAt = 1_800_000_000_000

export function sampleNode(id: string, overrides: Partial<NewNode> = {}): NewNode {
  const about = { name: `host ${id}`, address: `http://${id}`, build: '1', protocol: 1, settingsHash: 'h' }
  return { id, ...about, capacity: 100, ...overrides }
}

export class NodeStage {
  readonly database: Database
  readonly location: DatabaseLocation
  readonly nodes: NodeStore
  readonly assignments: AssignmentStore
  readonly bystander: Bystander
  readonly locker: RowLocker
  readonly #owned: AsyncDisposableStack

  private constructor(
    opened: { database: Database; location: DatabaseLocation; bystander: Bystander; locker: RowLocker },
    owned: AsyncDisposableStack,
  ) {
    this.database = opened.database
    this.location = opened.location
    this.bystander = opened.bystander
    this.locker = opened.locker
    this.nodes = new NodeStore(this.database)
    this.assignments = new AssignmentStore(this.database)
    this.#owned = owned
  }

  /** The nodes have joined. Everything has the deadlines of requests: on a busy machine a lock is held for some seconds. */
  static async open(...ids: string[]): Promise<NodeStage> {
    await using stack = new AsyncDisposableStack()
    const { location } = stack.use(await migratedLocation('postgres'))
    assert.ok(location.engine === 'postgres')
    const engines = await PostgresEngine.open({ url: location.url, encryptionKeys: [], log: silentLog })
    stack.use(engines.vital)
    const database = stack.use(new Database('postgres', engines.engine))
    const bystander = stack.use(await Bystander.connect(location))
    const locker = stack.use(await RowLocker.connect(location))
    const stage = new NodeStage({ database, location, bystander, locker }, stack.move())
    for (const id of ids) await stage.join(id)
    return stage
  }

  join(id: string, overrides: Partial<NewNode> = {}): Promise<void> {
    return this.nodes.join(sampleNode(id, overrides), joinedAt)
  }

  /** A new instance that the node holds. */
  async create(instance: string, node: string): Promise<Hold> {
    await this.database.write(...assignmentInsert(this.database, instance, node, joinedAt))
    return this.holdOf(instance)
  }

  async createFree(instance: string): Promise<void> {
    const epoch = await this.nextEpoch()
    await this.database.write(
      this.database.query.insertInto('assignments').values({ instance, node: null, epoch, since: joinedAt }),
    )
  }

  async holdOf(instance: string): Promise<Hold> {
    const { node = null, epoch = 0 } = (await this.assignments.find(instance)) ?? {}
    return { instance, node: node ?? assert.fail(`no node holds ${instance}`), epoch }
  }

  async nextEpoch(): Promise<number> {
    const [row] = await this.bystander.query(`SELECT nextval('assignment_epoch') AS epoch`)
    return Number(row?.['epoch'])
  }

  /** Whether a write with this hold is made. It touches a row of no other test. */
  async mayWrite(hold: Hold): Promise<boolean> {
    try {
      await this.database.write(createAssignmentFence(this.database)(hold), this.database.query.deleteFrom('tenants'))
      return true
    } catch (error) {
      assert.equal((error as { failure?: unknown }).failure, 'expectation')
      return false
    }
  }

  /** The node that holds each instance. */
  async owners(): Promise<Record<string, string | null>> {
    return Object.fromEntries((await this.assignments.all()).map(({ instance, node }) => [instance, node]))
  }

  async versions(): Promise<Record<string, number>> {
    const rows = await this.database.read(this.database.query.selectFrom('node_versions').selectAll())
    return Object.fromEntries(rows.map(({ node, version }) => [node, version]))
  }

  async states(): Promise<Record<string, string>> {
    const rows = await this.database.read(this.database.query.selectFrom('nodes').select(['id', 'state']))
    return Object.fromEntries(rows.map(({ id, state }) => [id, state]))
  }

  /** The node as it is seen now, for its burial. */
  async seen(id: string): Promise<{ id: string; beat: number }> {
    const query = this.database.query.selectFrom('nodes').select(['id', 'beat']).where('id', '=', id)
    return (await this.database.read(query))[0] ?? assert.fail(`no node ${id}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}
