// An unfinished job in this process.
//
// waiting → running when it is the turn of the job
// running → over when the runner has ended and its end is stored, or when the run was stopped
// waiting → over when the job was stopped before its turn

import { BridgeError } from '../core/errors.ts'
import { changeJob } from '../core/jobs/job.ts'
import type { Job, JobEnd, JobProgress } from '../core/jobs/job.ts'
import { JobStopped } from '../core/jobs/job-runner.ts'
import type { JobRunner, StopCause } from '../core/jobs/job-runner.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Log } from '../lib/log.ts'
import { retryUntil } from '../lib/retry.ts'
import { isStorageAway } from '../storage/is-storage-away.ts'
import type { JobStore } from '../storage/stores/jobs/job-store.ts'

export type JobRunDeps = {
  store: Pick<JobStore, 'begin' | 'end' | 'find'>
  clock: Clock
  log: Log
  /** Called with a job that is stored, whenever its status or its progress changes. */
  onChanged?: ((job: Job) => void) | undefined
}

const pauses = { firstMs: 1000, ceilingMs: 30_000 }

export class JobRun {
  readonly #deps: JobRunDeps
  readonly #runner: JobRunner<Job>
  readonly #stop = new AbortController()
  readonly #ended = Promise.withResolvers<Job>()
  #running: Promise<void> | undefined
  #stored: Promise<void> = Promise.resolve()
  #isStored = true
  #job: Job
  /** The job waits for more than its turn. */
  isHeld: boolean

  constructor(deps: JobRunDeps, runner: JobRunner<Job>, job: Job, { isHeld }: { isHeld: boolean }) {
    this.#deps = deps
    this.#runner = runner
    this.#job = job
    this.isHeld = isHeld
    // Most jobs have no caller who waits for them.
    this.#ended.promise.catch(ignoreRejection)
  }

  /** The job is new. It may run when `storing` has resolved. */
  async store(storing: Promise<void>): Promise<void> {
    this.#isStored = false
    this.#stored = storing
    await storing
    this.#isStored = true
    this.#deps.onChanged?.(this.#job)
  }

  get mayStart(): boolean {
    return this.#isStored && !this.isHeld && !this.isStopped
  }

  /** The job with its progress. */
  get job(): Job {
    return this.#job
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  /** Resolves with the job when it has completed. Rejects when it fails, or when the run is stopped. */
  get completed(): Promise<Job> {
    return this.#ended.promise
  }

  /** Resolves when nothing of the run is under way any more. Never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#run().catch((error: unknown) => {
      this.#ended.reject(this.#explain(error))
    })
    return this.#running
  }

  /** Callers who wait for the job get `reason`. Resolves when nothing of the run is under way any more. */
  async stop(why: StopCause, reason: BridgeError): Promise<void> {
    this.#ended.reject(reason)
    this.#stop.abort(new JobStopped(why))
    await this.#stored.catch(ignoreRejection)
    await this.#running
  }

  async #run(): Promise<void> {
    const { store, clock } = this.#deps
    const startedAt = this.#job.startedAt ?? clock.now()
    const begun = await this.#untilStored(() => store.begin(this.#job, startedAt))
    if (!begun) return
    if (!begun.value) throw cancelled()
    this.#change({ status: 'running', startedAt })
    const end = await this.#work()
    if (!end) return
    const { failure, ...facts } = end
    const stored = await this.#untilStored(() => this.#storeEnd(facts))
    if (!stored) return
    // The answer to the cancellation was lost, but not the cancellation.
    if (!stored.value) throw cancelled()
    this.#change(facts)
    if (failure) this.#ended.reject(failure)
    else this.#ended.resolve(this.#job)
  }

  /** Undefined when the run was stopped. */
  async #work(): Promise<(JobEnd & { failure?: BridgeError }) | undefined> {
    const { clock } = this.#deps
    const { signal } = this.#stop
    const onProgress = (progress: JobProgress) => {
      this.#change({ progress })
    }
    try {
      const done = await this.#untilStored(() => this.#runner.run(this.#job, { signal, onProgress }))
      if (!done) return undefined
      const progress = { ...this.#job.progress, estimatedEndAt: null }
      return { status: 'completed', endedAt: clock.now(), progress, error: null, result: done.value }
    } catch (error) {
      if (signal.aborted) return undefined
      const failure = this.#explain(error)
      const progress = { ...this.#job.progress, estimatedEndAt: null }
      return { status: 'failed', endedAt: clock.now(), progress, error: failure.message, result: null, failure }
    }
  }

  /** False when the job has ended otherwise. True also when only the answer to an earlier try was lost. */
  async #storeEnd(end: JobEnd): Promise<boolean> {
    const { store } = this.#deps
    if (await store.end(this.#job, end)) return true
    const stored = await store.find(this.#job.id)
    return stored?.status === end.status && stored.endedAt === end.endedAt
  }

  #explain(error: unknown): BridgeError {
    if (error instanceof BridgeError) return error
    const { id, type, instance } = this.#job
    this.#deps.log.error({ err: error, job: id, type, instance }, 'a job failed')
    return new BridgeError('SERVICE_INTERNAL', 'the job failed; the log says why', { cause: error })
  }

  #change(changes: Parameters<typeof changeJob>[1]): void {
    this.#job = changeJob(this.#job, changes)
    this.#deps.onChanged?.(this.#job)
  }

  /** Repeats the work while storage does not answer. Undefined when the run was stopped. */
  #untilStored<T>(work: () => Promise<T>): Promise<{ value: T } | undefined> {
    const { clock, log } = this.#deps
    const { id, instance } = this.#job
    const { signal } = this.#stop
    const onFailure = (error: unknown, failures: number) => {
      if (!isStorageAway(error)) throw error
      if (failures === 0) log.warn({ err: error, job: id, instance }, 'a job waits for storage')
    }
    return retryUntil({ clock, signal, pauses, onFailure }, work)
  }
}

export function cancelled(): BridgeError {
  return new BridgeError('SERVICE_JOB_CANCELLED', 'the job was cancelled')
}
