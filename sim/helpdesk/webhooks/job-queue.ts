// Background jobs, as in Sidekiq: each waits for its delay and then runs on the next free thread, critical jobs first.

import type { SimClock } from '../../shiftable-clock.ts'

type Job = () => Promise<void> | void

/** Events are dispatched on the critical queue. Everything else is on the medium queue. */
export type Priority = 'critical' | 'medium'

type Running = { done: Promise<void>; isStuck: boolean }

type Deps = {
  clock: SimClock
  threads: number
  /** Called after each job, with the error if the job threw one. */
  onDone: (error?: unknown) => void
}

export class JobQueue {
  readonly #deps: Deps
  readonly #waiting = new Set<() => void>()
  #ready: Record<Priority, Job[]> = { critical: [], medium: [] }
  readonly #running = new Set<Running>()
  #isPaused = false
  #cancelReturn: (() => void) | undefined
  #isClosed = false
  #onIdle: (() => void)[] = []

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A job survives a restart of the web server, because jobs are in Redis. */
  enqueue(delayMs: number, job: Job, priority: Priority = 'medium'): void {
    if (this.#isClosed) return
    const cancel = this.#deps.clock.after(delayMs, () => {
      this.#waiting.delete(cancel)
      this.#add(job, priority)
    })
    this.#waiting.add(cancel)
  }

  /** The job runs as soon as a thread is free. */
  enqueueNow(job: Job): void {
    if (!this.#isClosed) this.#add(job, 'medium')
  }

  /** No worker runs for a while, as during an upgrade. Then the backlog is worked off on all threads. */
  leave(ms: number): void {
    this.#cancelReturn?.()
    this.#cancelReturn = this.#deps.clock.after(ms, () => {
      this.#cancelReturn = undefined
      this.#startReady()
    })
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#startReady()
  }

  /** Drops the jobs that have not begun. */
  clear(): void {
    for (const cancel of this.#waiting) cancel()
    this.#waiting.clear()
    this.#ready = { critical: [], medium: [] }
    this.#cancelReturn?.()
    this.#cancelReturn = undefined
    this.#tellIdle()
  }

  /** Drops the waiting jobs and waits for the running ones. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.clear()
    await this.idle()
  }

  /** Resolves when no job waits and no job runs. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle.push(resolve)
      this.#tellIdle()
    })
  }

  /**
   * Waits for the running jobs. A job that runs longer than `ms` of real time counts as stuck, and later calls do not
   * wait for it.
   */
  async quiet(ms: number): Promise<void> {
    const moving = [...this.#running].filter((one) => !one.isStuck)
    if (moving.length === 0) return
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => {
      for (const one of moving) one.isStuck = true
      resolve(undefined)
    }, ms)
    await Promise.race([late, Promise.all(moving.map((one) => one.done))])
    clearTimeout(timer)
  }

  get length(): number {
    return this.#waiting.size + this.#ready.critical.length + this.#ready.medium.length + this.#running.size
  }

  get #hasWorkers(): boolean {
    return !this.#isPaused && this.#cancelReturn === undefined
  }

  #add(job: Job, priority: Priority): void {
    this.#ready[priority].push(job)
    this.#startReady()
  }

  #startReady(): void {
    while (this.#hasWorkers && this.#running.size < this.#deps.threads) {
      const job = this.#ready.critical.shift() ?? this.#ready.medium.shift()
      if (!job) return
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      const running: Running = { done, isStuck: false }
      this.#running.add(running)
      void this.#run(job).then(() => {
        this.#running.delete(running)
        resolve(undefined)
        this.#startReady()
        this.#tellIdle()
      })
    }
  }

  async #run(job: Job): Promise<void> {
    try {
      await job()
      this.#deps.onDone()
    } catch (error) {
      this.#deps.onDone(error)
    }
  }

  #tellIdle(): void {
    if (this.length > 0) return
    const waiting = this.#onIdle
    this.#onIdle = []
    for (const resolve of waiting) resolve()
  }
}
