// Background jobs: each waits for its delay and then runs on the next free thread.

import type { SimClock } from '../../shiftable-clock.ts'

type Job = () => Promise<void> | void

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
  #ready: Job[] = []
  readonly #running = new Set<Running>()
  #isPaused = false
  #isClosed = false
  #onIdle: (() => void)[] = []

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A job survives a restart of the web server, because jobs are in Redis. */
  enqueue(delayMs: number, job: Job): void {
    if (this.#isClosed) return
    const cancel = this.#deps.clock.after(delayMs, () => {
      this.#waiting.delete(cancel)
      this.#ready.push(job)
      this.#startReady()
    })
    this.#waiting.add(cancel)
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
    this.#ready = []
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
    return this.#waiting.size + this.#ready.length + this.#running.size
  }

  #startReady(): void {
    while (!this.#isPaused && this.#running.size < this.#deps.threads) {
      const job = this.#ready.shift()
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
