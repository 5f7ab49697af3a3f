// Runs a piece of work for many callers. A caller gets a run that begins after its call: what happened before the call counts.
// Callers that come during a run share the next one.

import { ignoreRejection } from '../ignore.ts'

export class NextRun<Result> {
  readonly #work: () => Promise<Result>
  #running: Promise<Result> | undefined
  #next: Promise<Result> | undefined

  constructor(work: () => Promise<Result>) {
    this.#work = work
  }

  run(): Promise<Result> {
    if (!this.#running) return this.#start()
    this.#next ??= this.#running.catch(ignoreRejection).then(() => this.#start())
    return this.#next
  }

  #start(): Promise<Result> {
    const run = this.#work().finally(() => {
      // The run that waits begins in a moment, and callers that come before that share it.
      if (!this.#next) this.#running = undefined
    })
    this.#next = undefined
    this.#running = run
    return run
  }
}
