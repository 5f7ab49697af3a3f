// What a process goes through in a test: it is stopped and continued, and it loses its way to the database or to other nodes.

import { setImmediate } from 'node:timers/promises'
import { sleep } from '../../../src/lib/clock.ts'
import type { Clock } from '../../../src/lib/clock.ts'

type Line = 'up' | 'refused' | 'silent'

/** The server or the driver ends a statement that takes longer. */
const statementMs = 1500

export class NodeProcess {
  readonly #clock: Clock
  /** How far the clock on the wall is off. */
  readonly #skewMs: number
  #running = Promise.withResolvers<undefined>()
  #isStopped = false
  #due: (() => void)[] = []
  /** The way to the database. */
  database: Line = 'up'
  /** The way to and from other nodes. */
  peers: 'up' | 'silent' = 'up'
  /** How long this process takes to answer another node. */
  peerMs = 0
  /** How long an answer of the database is on its way. */
  latencyMs = 0
  /** It was killed: nothing that it does reaches anything. */
  isDead = false
  /** How many calls the database has not answered yet. */
  inFlight = 0

  constructor(clock: Clock, skewMs = 0) {
    this.#clock = clock
    this.#skewMs = skewMs
    this.#running.resolve(undefined)
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** The clock of this process. Its timers run late while it is stopped. */
  readonly clock: Clock = {
    now: () => this.#clock.now() + this.#skewMs,
    monotonic: () => this.#clock.monotonic(),
    after: (ms, work) => {
      let isCancelled = false
      const run = () => {
        if (!isCancelled && !this.isDead) work()
      }
      const cancel = this.#clock.after(ms, () => {
        if (this.#isStopped) this.#due.push(run)
        else run()
      })
      return () => {
        isCancelled = true
        cancel()
      }
    },
  }

  stop(): void {
    this.#isStopped = true
    this.#running = Promise.withResolvers()
  }

  /** Timers that fell due run. What came over the network meanwhile is read before or after them: both happen. */
  async continue(first: 'timers' | 'answers' = 'timers'): Promise<void> {
    this.#isStopped = false
    this.#running.resolve(undefined)
    if (first === 'answers') await setImmediate()
    for (const run of this.#due.splice(0)) run()
  }

  /** The table as this process reaches it. */
  reach<T extends object>(table: T): T {
    const call =
      (work: (...values: unknown[]) => Promise<unknown>) =>
      (...values: unknown[]) =>
        this.#call(() => work(...values))
    const entries = Object.entries(table).map(([name, work]) => [name, call(work as () => Promise<unknown>)])
    return Object.fromEntries(entries) as T
  }

  /** Resolves when this process runs. */
  async awake(): Promise<void> {
    await this.#running.promise
  }

  async #call(work: () => Promise<unknown>): Promise<unknown> {
    if (this.isDead) return new Promise(() => undefined)
    if (this.database === 'refused') throw new Error('connection refused')
    if (this.database === 'silent') {
      await sleep(this.clock, statementMs)
      throw new Error('statement timeout')
    }
    this.inFlight++
    const answer = work().finally(() => this.inFlight--)
    await answer.catch(() => undefined)
    if (this.latencyMs > 0) await sleep(this.clock, this.latencyMs)
    await this.awake()
    return answer
  }
}
