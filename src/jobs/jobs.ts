// The jobs of all instances: adds, runs and cancels them. Each instance runs one job of a family at a time, the oldest first.
// Jobs of different families, and those of different instances, run side by side.

import type { AuditRecord } from '../core/audit.ts'
import { BridgeError } from '../core/errors.ts'
import type { InstanceName } from '../core/ids.ts'
import { changeJob, familyOf, noProgressOf } from '../core/jobs/job.ts'
import type { Job, JobFamily, JobOrder, JobType } from '../core/jobs/job.ts'
import type { PerInstance } from '../core/per-instance.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import { retryUntil } from '../lib/retry.ts'
import type { JobStore } from '../storage/stores/jobs/job-store.ts'
import { cancelled, JobRun } from './job-run.ts'
import type { JobRunDeps } from './job-run.ts'
import { isUnsent, ruleOn } from './job-rules.ts'
import { runnerFor } from './job-runners.ts'
import type { JobRunners } from './job-runners.ts'

type Deps = JobRunDeps & {
  store: Pick<JobStore, 'create' | 'find' | 'list' | 'unfinished' | 'begin' | 'end' | 'remove'>
  /** Jobs without a runner fail when their instance is taken. */
  runners: JobRunners
  newId: () => string
}

/** A job, and its end: resolves when it has completed, rejects when it fails or is stopped. */
export type AddedJob = { job: Job; completed: Promise<Job> }

const mostListed = 500
const removalPauses = { firstMs: 1000, ceilingMs: 60_000 }

export class Jobs implements PerInstance {
  readonly #deps: Deps
  readonly #stopping = new AbortController()
  /** The jobs that have not ended, of each instance that this process has taken, oldest first. */
  readonly #runs = new Map<InstanceName, JobRun[]>()
  #isStarted = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** From now on jobs run. */
  start(): void {
    this.#isStarted = true
    for (const instance of this.#runs.keys()) this.#runNext(instance)
  }

  async take(instance: InstanceName): Promise<void> {
    const runs: JobRun[] = []
    for (const job of await this.#deps.store.unfinished(instance)) {
      const runner = runnerFor(this.#deps.runners, job.type)
      if ('off' in runner) await this.#giveUp(job, runner.off)
      else runs.push(new JobRun(this.#deps, runner, job, { isHeld: isUnsent(job) }))
    }
    this.#runs.set(instance, runs)
    this.#runNext(instance)
  }

  async leave(instance: InstanceName): Promise<void> {
    const runs = this.#runs.get(instance) ?? []
    this.#runs.delete(instance)
    await Promise.all(runs.map((run) => run.stop('deleted', noInstance(instance))))
  }

  /** Adds a job, or returns the one under way that does the same. The audit entries are stored with a new job. */
  async add(instance: InstanceName, order: JobOrder, audits: readonly AuditRecord[] = []): Promise<AddedJob> {
    const runs = this.#runsOf(instance).filter((run) => !run.isStopped)
    const ruling = ruleOn(
      order,
      runs.map(({ job }) => job),
    )
    if ('refuse' in ruling) throw underWay(ruling.refuse)
    const same = 'share' in ruling && runs.find(({ job }) => job.id === ruling.share.id)
    const run = same || (await this.#create(instance, order, audits))
    return { job: run.job, completed: run.completed }
  }

  /** Adds a job that waits for `release`. Has no effect while such a job of the type waits. */
  async addHeld(instance: InstanceName, order: JobOrder): Promise<void> {
    if (!this.isHeld(instance, order.type)) await this.#create(instance, order, [], { isHeld: true })
  }

  release(instance: InstanceName, type: JobType): void {
    for (const run of this.#runs.get(instance) ?? []) if (run.job.type === type) run.isHeld = false
    this.#runNext(instance)
  }

  isHeld(instance: InstanceName, type: JobType): boolean {
    return this.#runs.get(instance)?.some(({ job, isHeld }) => isHeld && job.type === type) ?? false
  }

  /** Whether a job of the instance runs now. */
  isRunning(instance: InstanceName): boolean {
    return this.#runs.get(instance)?.some((run) => run.isRunning) ?? false
  }

  /** The jobs of the instances of this process that have not ended, with their progress. */
  unfinished(): Job[] {
    const runs = [...this.#runs.values()].flat()
    return runs.filter((run) => !run.isStopped).map(({ job }) => job)
  }

  /** Newest first. */
  async list(instance?: InstanceName): Promise<Job[]> {
    const stored = await this.#deps.store.list(mostListed, instance)
    return stored.map((job) => this.#asKnown(job))
  }

  async get(id: string): Promise<Job> {
    const job = await this.#deps.store.find(id)
    if (!job) throw noJob(id)
    return this.#asKnown(job)
  }

  /** Stores the end of the job first, then stops its run. The audit entries are stored with the end. */
  async cancel(id: string, audits: (job: Job) => readonly AuditRecord[] = () => []): Promise<Job> {
    const { store, clock } = this.#deps
    const job = await this.get(id)
    const progress = { ...job.progress, estimatedEndAt: null }
    const end = { status: 'cancelled', endedAt: clock.now(), progress, error: null, result: null } as const
    const isStored = await store.end(job, end, audits(job))
    const run = this.#find(job)
    const ended = isStored ? changeJob(job, end) : await store.find(id)
    // The answer to an earlier cancellation was lost when the job is still run here although it is cancelled.
    if (ended?.status !== 'cancelled' || (!isStored && !run)) throw over(id)
    void run?.stop('cancelled', cancelled())
    if (run && !run.isRunning) this.#drop(run)
    this.#deps.onChanged?.(ended)
    return ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    const sentence = 'the service stops, and the job goes on when it has started: GET /api/jobs shows it'
    const runs = [...this.#runs.values()].flat()
    await Promise.all(runs.map((run) => run.stop('stopping', new BridgeError('SERVICE_STOPPING', sentence))))
  }

  async #create(
    instance: InstanceName,
    order: JobOrder,
    audits: readonly AuditRecord[],
    { isHeld }: { isHeld: boolean } = { isHeld: false },
  ): Promise<JobRun> {
    const { store, clock, newId, runners } = this.#deps
    const runner = runnerFor(runners, order.type)
    if ('off' in runner) throw new BridgeError('SERVICE_INTERNAL', runner.off)
    const job = newJob(order, { id: newId(), instance, createdAt: clock.now() })
    const run = new JobRun(this.#deps, runner, job, { isHeld })
    this.#runsOf(instance).push(run)
    try {
      await run.store(store.create(job, audits))
    } catch (cause) {
      this.#drop(run)
      void run.stop('cancelled', new BridgeError('SERVICE_STORAGE_FAILED', 'the job could not be stored', { cause }))
      // The row may be there: only the answer may be lost.
      this.#removeLater(job)
      throw cause
    }
    this.#runNext(instance)
    return run
  }

  #runNext(instance: InstanceName): void {
    const runs = this.#runs.get(instance)
    if (!this.#isStarted || this.#stopping.signal.aborted || !runs) return
    const busy = new Set<JobFamily>(runs.filter((run) => run.isRunning).map(({ job }) => familyOf(job.type)))
    for (const next of runs.filter((run) => run.mayStart)) {
      const family = familyOf(next.job.type)
      if (busy.has(family)) continue
      busy.add(family)
      void next.run().then(() => {
        this.#drop(next)
        this.#runNext(instance)
      })
    }
  }

  #runsOf(instance: InstanceName): JobRun[] {
    const runs = this.#runs.get(instance)
    if (!runs) throw noInstance(instance)
    return runs
  }

  #find({ instance, id }: Job): JobRun | undefined {
    return this.#runs.get(instance)?.find(({ job }) => job.id === id)
  }

  /** The job with the progress of its run. It has ended when its run knows that: until then another one is refused. */
  #asKnown(stored: Job): Job {
    const run = this.#find(stored)
    if (!run) return stored
    if (stored.endedAt !== null) return run.isStopped ? stored : run.job
    return changeJob(stored, { progress: run.job.progress })
  }

  #drop(run: JobRun): void {
    const runs = this.#runs.get(run.job.instance)
    const at = runs?.indexOf(run) ?? -1
    if (at >= 0) runs?.splice(at, 1)
  }

  #removeLater(job: Job): void {
    const { store, clock, log } = this.#deps
    const onFailure = (err: unknown) => {
      log.warn({ err, job: job.id }, 'a job that was refused could not be removed yet')
    }
    const options = { clock, signal: this.#stopping.signal, pauses: removalPauses, onFailure }
    void retryUntil(options, () => store.remove(job)).catch(ignoreRejection)
  }

  async #giveUp(job: Job, error: string): Promise<void> {
    const { store, clock } = this.#deps
    const { progress } = job
    await store.end(job, { status: 'failed', endedAt: clock.now(), progress, error, result: null })
  }
}

function newJob(order: JobOrder, facts: Pick<Job, 'id' | 'instance' | 'createdAt'>): Job {
  const { type } = order
  const empty = { progress: noProgressOf(type), startedAt: null, endedAt: null, error: null, result: null }
  return { ...facts, ...order, ...empty, status: 'pending' } as Job
}

function underWay({ id, type, instance }: Job): BridgeError {
  const sentence = `the job ${id} (${type}) of the instance ${JSON.stringify(instance)} has not ended: wait for its end, or DELETE /api/jobs/${id}`
  return new BridgeError('SERVICE_JOB_RUNNING', sentence)
}

function over(id: string): BridgeError {
  return new BridgeError('SERVICE_JOB_ENDED', `the job ${JSON.stringify(id)} has ended`)
}

function noJob(id: string): BridgeError {
  const sentence = `there is no job ${JSON.stringify(id)}: jobs that have ended are kept for 24 hours`
  return new BridgeError('SERVICE_JOB_NOT_FOUND', sentence)
}

function noInstance(name: InstanceName): BridgeError {
  return new BridgeError('SERVICE_INSTANCE_NOT_FOUND', `there is no instance ${JSON.stringify(name)}`)
}
