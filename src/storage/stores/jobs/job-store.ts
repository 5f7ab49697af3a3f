// Stores jobs. Only the process that owns the accounts changes them. A job of a type that a later version of the service added is
// not shown and not run: it waits for that version.

import type { Insertable, Selectable } from 'kysely'
import type { AuditRecord } from '../../../core/audit.ts'
import type { InstanceName } from '../../../core/ids.ts'
import { jobTypes, noProgressOf } from '../../../core/jobs/job.ts'
import type { Job, JobEnd } from '../../../core/jobs/job.ts'
import type { HoldOf, NodeHold } from '../../../core/nodes/hold.ts'
import { SharedReads } from '../../../lib/queues/shared-reads.ts'
import type { Database } from '../../database.ts'
import type { JobTable } from '../../schema/jobs.ts'
import { batchSize, deleteInBatches } from '../delete-in-batches.ts'
import { FencedWriter } from '../fenced-writer.ts'
import { NodeWriter } from '../node-writer.ts'
import { auditInsert } from '../ledger/audit-store.ts'

/** Which job. */
export type JobRef = Pick<Job, 'id' | 'instance'>

const unfinished = ['pending', 'running'] as const
const finished = ['completed', 'failed', 'cancelled'] as const

export class JobStore {
  readonly #database: Database
  readonly #writer: FencedWriter
  readonly #nodeWriter: NodeWriter
  readonly #unfinished = new SharedReads((instances) => this.#readUnfinished(instances))

  constructor(database: Database, holdOf: HoldOf, nodeHold: () => NodeHold) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
    this.#nodeWriter = new NodeWriter(database, nodeHold)
  }

  async create(job: Job, audits: readonly AuditRecord[] = []): Promise<void> {
    const insert = this.#database.query
      .insertInto('jobs')
      .values(toColumns(job))
      .onConflict((known) => known.column('id').doNothing())
    await this.#writer.write(job.instance, insert, ...audits.map((audit) => auditInsert(this.#database, audit)))
  }

  async find(id: string): Promise<Job | undefined> {
    const [row] = await this.#database.read(this.#known().where('id', '=', id))
    return row && toJob(row)
  }

  /** Newest first; of all instances when none is named. */
  async list(limit: number, instance?: InstanceName): Promise<Job[]> {
    const all = this.#known()
    const chosen = instance === undefined ? all : all.where('instance', '=', instance)
    const rows = await this.#database.read(
      chosen.orderBy('id', (order) => this.#database.inByteOrder(order).desc()).limit(limit),
    )
    return rows.map(toJob)
  }

  /** The jobs of an instance that have not ended, oldest first. Instances that are asked for together share a read. */
  async unfinished(instance: InstanceName): Promise<Job[]> {
    return (await this.#unfinished.find(instance)) ?? []
  }

  async #readUnfinished(instances: readonly InstanceName[]): Promise<Map<InstanceName, Job[]>> {
    const rows = await this.#database.read(
      this.#known()
        .where('instance', 'in', instances)
        .where('status', 'in', unfinished)
        .orderBy('id', (order) => this.#database.inByteOrder(order)),
    )
    return Map.groupBy(rows.map(toJob), ({ instance }) => instance)
  }

  /** The job runs. Its first begin is the one that counts. False when the job has ended. */
  begin({ id, instance }: JobRef, now: number): Promise<boolean> {
    return this.#writer.guarded(
      instance,
      this.#database.query
        .updateTable('jobs')
        .set(({ eb, fn }) => ({ status: 'running', started_at: fn.coalesce('started_at', eb.val(now)) }))
        .where('id', '=', id)
        .where('status', 'in', unfinished),
    )
  }

  /** False when the job has ended already: then nothing changes. */
  end({ id, instance }: JobRef, end: JobEnd, audits: readonly AuditRecord[] = []): Promise<boolean> {
    const update = this.#database.query
      .updateTable('jobs')
      .set({
        status: end.status,
        ended_at: end.endedAt,
        error: end.error,
        progress: JSON.stringify(end.progress),
        result: end.result && JSON.stringify(end.result),
      })
      .where('id', '=', id)
      .where('status', 'in', unfinished)
    return this.#writer.guarded(instance, update, ...audits.map((audit) => auditInsert(this.#database, audit)))
  }

  async remove({ id, instance }: JobRef): Promise<void> {
    await this.#writer.write(instance, this.#database.query.deleteFrom('jobs').where('id', '=', id))
  }

  /** Forgets the jobs that ended before `time`, with their chats. */
  async prune(time: number): Promise<void> {
    const { query } = this.#database
    const old = query.selectFrom('jobs').select('id').where('status', 'in', finished).where('ended_at', '<', time)
    await deleteInBatches(async () => {
      const ids = (await this.#database.read(old.limit(batchSize))).map(({ id }) => id)
      if (ids.length === 0) return 0
      const stillOld = old.where('id', 'in', ids)
      await this.#nodeWriter.write(
        query.deleteFrom('import_chats').where('job_id', 'in', stillOld),
        query.deleteFrom('jobs').where('id', 'in', stillOld),
      )
      return ids.length
    })
  }

  #known() {
    return this.#database.query.selectFrom('jobs').selectAll().where('type', 'in', jobTypes)
  }
}

/** Steps of a write: the jobs of an instance and their chats go together with its record. */
export function jobRemovals({ query }: Database, instance: InstanceName) {
  const jobs = query.selectFrom('jobs').select('id').where('instance', '=', instance)
  return [
    query.deleteFrom('import_chats').where('job_id', 'in', jobs),
    query.deleteFrom('jobs').where('instance', '=', instance),
  ]
}

function toColumns(job: Job): Insertable<JobTable> {
  return {
    ...{ id: job.id, type: job.type, instance: job.instance, status: job.status },
    params: JSON.stringify(job.params),
    created_at: job.createdAt,
    started_at: job.startedAt,
    ended_at: job.endedAt,
    error: job.error,
    progress: null,
    result: null,
  }
}

/** The columns of a row belong together: they come from one job. */
function toJob(row: Selectable<JobTable>): Job {
  return {
    ...{ id: row.id, type: row.type, instance: row.instance, status: row.status },
    params: JSON.parse(row.params) as unknown,
    progress: row.progress === null ? noProgressOf(row.type) : (JSON.parse(row.progress) as unknown),
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    error: row.error,
    result: row.result === null ? null : (JSON.parse(row.result) as unknown),
  } as Job
}
