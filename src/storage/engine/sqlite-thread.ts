// The main thread's end of one SQLite worker: one batch in flight, and jobs that come meanwhile form the next batch. A job that
// may wait goes with the next job that may not, so that both cost one commit and one message to the worker.
//
// loading → opening when open() is called; the worker loads its code meanwhile
// opening → ready when the worker has its connection; cannot open rejects open()
// ready   → idle or waiting for the answers of one batch
// dead    → after a crash of the worker or disposal: every call rejects

import { Worker } from 'node:worker_threads'
import { systemClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { StartError } from '../../lib/start-error.ts'
import { StorageError } from './statement.ts'
import type { StatementResult } from './statement.ts'
import { SqlEncoder } from './sql-text-cache.ts'
import { decodeResult, encodeBatch } from './sqlite-protocol.ts'
import type { Job, JobAnswer, WorkerAnswer, WorkerOptions } from './sqlite-protocol.ts'

// Bounds how long one transaction holds the write lock.
const maxBatch = 1000
// Bounds the memory that waiting jobs take while the disk does not keep up.
const maxWaiting = 100_000
/** How long a job that may wait is kept for others. */
const longestWaitMs = 20

type Waiting = { job: Job; resolve: (results: StatementResult[]) => void; reject: (reason: Error) => void }

export class SqliteThread {
  readonly #worker: Worker
  readonly #clock: Clock
  #numbers = new SqlEncoder()
  readonly #opened = Promise.withResolvers<undefined>()
  readonly #exited = Promise.withResolvers<undefined>()
  #queue: Waiting[] = []
  #inFlight: Waiting[] = []
  #isSending = false
  #isTimed = false
  #idle: (() => void) | undefined
  #dead: Error | undefined
  #closing = false

  /** `onFatal` hears of a worker that ended by itself: nothing can be stored from then on. */
  constructor(options: WorkerOptions, onFatal: (reason: Error) => void, clock = systemClock) {
    this.#clock = clock
    // When the writer cannot open, the reader is never opened, and its failure has no listener.
    this.#opened.promise.catch(ignoreRejection)
    this.#worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), {
      workerData: options,
      name: `sqlite ${options.role}`,
    })
    this.#worker.on('message', (answer: WorkerAnswer) => {
      this.#hear(answer)
    })
    this.#worker.on('error', (cause) => {
      this.#die(new StorageError('unavailable', 'the storage worker crashed', { cause }))
    })
    this.#worker.on('exit', () => {
      if (!this.#closing) onFatal(this.#dead ?? new StorageError('unavailable', 'the storage worker has ended'))
      this.#die(new StorageError('unavailable', 'the storage worker has ended'))
      this.#exited.resolve(undefined)
    })
  }

  /** Resolves when the connection is open. */
  open(): Promise<undefined> {
    this.#worker.postMessage('open')
    return this.#opened.promise
  }

  run(job: Job, mayWait = false): Promise<StatementResult[]> {
    if (this.#dead) return Promise.reject(this.#dead)
    if (this.#queue.length >= maxWaiting) {
      return Promise.reject(new StorageError('unavailable', `${maxWaiting} operations already wait for the disk`))
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, resolve, reject })
      if (mayWait) this.#sendLater()
      else this.sendNow()
    })
  }

  /** Jobs that may wait go too. */
  sendNow(): void {
    if (this.#inFlight.length === 0 && this.#queue.length > 0) this.#sendSoon()
  }

  /** Finishes what was asked, then closes the connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true
    if (!this.#dead) {
      this.sendNow()
      if (this.#inFlight.length + this.#queue.length > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
      this.#dead = new StorageError('unavailable', 'the database is closed')
      this.#worker.postMessage('close')
    }
    await this.#exited.promise
  }

  /** Sends at the end of this turn of the event loop, so that its jobs travel together: a message costs more than a job. */
  #sendSoon(): void {
    if (this.#isSending) return
    this.#isSending = true
    setImmediate(() => {
      this.#isSending = false
      if (this.#dead) return
      this.#inFlight = this.#queue.splice(0, maxBatch)
      this.#post(this.#inFlight)
    })
  }

  /** The timer is not set anew for each job, so that a job may go before its time. */
  #sendLater(): void {
    if (this.#isTimed) return
    this.#isTimed = true
    this.#clock.after(longestWaitMs, () => {
      this.#isTimed = false
      this.sendNow()
    })
  }

  #post(batch: readonly Waiting[]): void {
    try {
      const jobs = batch.map(({ job }) => job)
      this.#worker.postMessage(encodeBatch(jobs, this.#numbers))
    } catch (cause) {
      // The worker has not received the texts behind the numbers of this batch: start to count anew.
      this.#numbers = new SqlEncoder()
      const message = cause instanceof Error ? cause.message : String(cause)
      this.#settle(batch.map(() => ({ failed: { failure: 'failed', message } })))
    }
  }

  #hear(answer: WorkerAnswer): void {
    if (Array.isArray(answer)) this.#settle(answer)
    else if ('ready' in answer) this.#opened.resolve(undefined)
    // `node --watch` sends the names of loaded modules over the same port.
    else if ('cannotOpen' in answer) {
      const { cannotOpen, isExplained } = answer
      // The worker ends now. The caller of open() hears why.
      this.#closing = true
      this.#opened.reject(isExplained ? new StartError(cannotOpen) : new StorageError('unavailable', cannotOpen))
    }
  }

  #settle(answers: readonly JobAnswer[]): void {
    const settled = this.#inFlight
    this.#inFlight = []
    if (this.#queue.length > 0) this.#sendSoon()
    else this.#idle?.()
    for (const [index, waiting] of settled.entries()) {
      const answer = answers[index]
      if (Array.isArray(answer)) waiting.resolve(answer.map(decodeResult))
      else waiting.reject(new StorageError(answer?.failed.failure ?? 'failed', answer?.failed.message ?? 'no answer'))
    }
  }

  #die(reason: StorageError): void {
    this.#dead ??= reason
    this.#opened.reject(this.#dead)
    for (const waiting of [...this.#inFlight, ...this.#queue]) waiting.reject(this.#dead)
    this.#inFlight = []
    this.#queue = []
    this.#idle?.()
  }
}
