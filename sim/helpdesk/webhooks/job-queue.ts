// Background jobs: each waits its time, then runs as soon as one of the few threads is free.

import type { SimClock } from '../../shiftable-clock.ts'

type Job = () => Promise<void> | void

type Running = { done: Promise<void>; isStuck: boolean }

type Deps = {
  clock: SimClock
  threads: number
  /** After each job, with what it threw, if it did. */
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

  /** Jobs outlive a restart of the web server, as they lie in Redis. */
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

  /** Drops whatever has not begun. */
  clear(): void {
    for (const cancel of this.#waiting) cancel()
    this.#waiting.clear()
    this.#ready = []
    this.#tellIdle()
  }

  /** Drops what waits and lets what runs end. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.clear()
    await this.idle()
  }

  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle.push(resolve)
      this.#tellIdle()
    })
  }

  /**
   * Resolves when every job that runs has had the chance to end. One that does not end within `ms` of real time hangs
   * and is not waited for again.
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
