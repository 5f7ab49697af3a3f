// Runs the long work that operators ask for: once per instance at a time. The work ends when the instance leaves.

import { BridgeError } from '../../core/errors.ts'
import type { InstanceName } from '../../core/ids.ts'

type Run<Result> = { result: Promise<Result>; leaving: AbortController }

export class InstanceRuns<Result> {
  readonly #runs = new Map<InstanceName, Run<Result>>()

  /** Callers that ask while the work runs share its result. The work looks at the signal between its steps. */
  run(instance: InstanceName, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const running = this.#runs.get(instance)
    if (running) return running.result
    const leaving = new AbortController()
    const result = work(leaving.signal).finally(() => {
      // After the instance has left, another run may have its place.
      if (!leaving.signal.aborted) this.#runs.delete(instance)
    })
    this.#runs.set(instance, { result, leaving })
    return result
  }

  /** The instance leaves: its run rejects. */
  end(instance: InstanceName): void {
    const error = new BridgeError('SERVICE_INSTANCE_NOT_FOUND', 'the instance was deleted, or runs elsewhere now')
    this.#runs.get(instance)?.leaving.abort(error)
    this.#runs.delete(instance)
  }
}
