// A named background worker: runs one piece of work at an interval, never twice at once, and remembers its last failure.
//
// idle    → running when the interval has passed or a caller uses tick()
// running → idle when the work settles; a failure is kept until the next success
// stopped → after disposal, which waits for the run in flight

import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

type Deps = {
  name: string
  /** A function is asked before each pause. */
  everyMs: number | (() => number)
  /** How long after the start the first run is; `everyMs` when it is left out. */
  firstMs?: number
  work: () => Promise<void>
  clock: Clock
  log: Log
}

/**
 * The first run of work that removes old rows. A process that is restarted every night never reaches an interval of a day,
 * so the work is due soon after each start. The accounts connect first.
 */
export const firstSweepMs = 60_000

export class Ticker {
  readonly name: string
  readonly #deps: Deps
  #cancelNext: (() => void) | undefined
  #running: Promise<void> | undefined
  #failure: Error | undefined
  #stopped = false
  #isWanted = () => true

  constructor(deps: Deps) {
    this.name = deps.name
    this.#deps = deps
  }

  /** The error of the last run, or undefined when it succeeded. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Runs while the condition does not hold do nothing. */
  runOnlyWhile(isWanted: () => boolean): void {
    this.#isWanted = isWanted
  }

  start(): void {
    this.#schedule(this.#deps.firstMs ?? this.#pauseMs)
  }

  /** Runs the work now; a run already in flight is joined. Never rejects: a failure is logged and kept. */
  tick(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    this.#cancelNext?.()
    await this.#running
  }

  get #pauseMs(): number {
    const { everyMs } = this.#deps
    return typeof everyMs === 'number' ? everyMs : everyMs()
  }

  #schedule(ms: number): void {
    if (this.#stopped) return
    this.#cancelNext?.()
    this.#cancelNext = this.#deps.clock.after(ms, () => {
      void this.tick().then(() => {
        this.#schedule(this.#pauseMs)
      })
    })
  }

  async #run(): Promise<void> {
    try {
      if (this.#isWanted()) await this.#deps.work()
      this.#failure = undefined
    } catch (cause) {
      this.#failure = cause instanceof Error ? cause : new Error(String(cause))
      this.#deps.log.error({ worker: this.name, err: this.#failure }, 'worker run failed')
    }
  }
}
