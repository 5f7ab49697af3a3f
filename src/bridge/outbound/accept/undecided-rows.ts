// Messages between being stored and being answered. One that the helpdesk hears was refused must not be sent, even if the
// database has it after all: it is taken back, as soon as the database lets us.

import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { FailureReporter } from '../queue/failure-reporter.ts'

type Deps = {
  transitions: Pick<OutboxTransitions, 'withdraw'>
  reporter: Pick<FailureReporter, 'due'>
  clock: Clock
  log: Log
}

// A commit that nobody heard of can still become visible.
const doubtMs = 60_000
const lateReason = 'the service could not store the message in time: try again'

export class UndecidedRows {
  readonly #deps: Deps
  readonly #undecided = new Set<string>()
  /** Told as refused, and perhaps stored; with the time until which it may still turn up. */
  readonly #refused = new Map<string, number>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether this row is not to be taken up, although it is stored. */
  has(id: string): boolean {
    return this.#undecided.has(id) || this.#refused.has(id)
  }

  /** Nobody takes up the row while this is decided. */
  async while<T>(id: string, deciding: () => Promise<T>): Promise<T> {
    this.#undecided.add(id)
    try {
      return await deciding()
    } finally {
      this.#undecided.delete(id)
    }
  }

  /** The helpdesk hears that it failed. Its row is taken back now, or when the database can be had again. */
  async refuse(id: string): Promise<void> {
    this.#refused.set(id, this.#deps.clock.monotonic() + doubtMs)
    await this.#look(id)
  }

  /** True when the row was refused and is taken back: its callback may be followed anew. */
  async withdraw(id: string): Promise<boolean> {
    if (!this.#refused.has(id)) return false
    await this.#withdraw(id)
    this.#refused.delete(id)
    return true
  }

  /** Looks for what could not be taken back yet. */
  async run(): Promise<void> {
    for (const id of [...this.#refused.keys()]) await this.#look(id)
  }

  /** The next process would send what is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.run()
  }

  async #look(id: string): Promise<void> {
    try {
      const isTakenBack = await this.#withdraw(id)
      if (isTakenBack || this.#deps.clock.monotonic() >= (this.#refused.get(id) ?? 0)) this.#refused.delete(id)
    } catch (err) {
      this.#deps.log.error({ err, queue_id: id }, 'a refused message that may be stored could not be taken back yet')
    }
  }

  #withdraw(id: string): Promise<boolean> {
    const { transitions, reporter, clock } = this.#deps
    return transitions.withdraw(id, lateReason, reporter.due(clock.now()))
  }
}
