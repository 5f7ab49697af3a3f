// Looks at the chats whose labels may have changed. What is due is stored, so a restart goes on where the last process stopped.

import type { InstanceName } from '../../../core/ids.ts'
import { longestLabelPauseMs } from '../../../core/sync/labels.ts'
import type { NetworkLabels } from '../../../core/sync/labels.ts'
import type { NetworkSession } from '../../../core/network.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import { doubledMs } from '../../../lib/backoff.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { DueLabels, LabelAgreementStore } from '../../../storage/stores/people/label-agreement-store.ts'
import type { RealtimeCounts } from '../realtime-counts.ts'
import type { LabelLook } from './label-look.ts'

type Deps = {
  agreements: Pick<LabelAgreementStore, 'due' | 'nextDueAt' | 'settle'>
  look: Pick<LabelLook, 'run'>
  /** Undefined while the instance is not connected. */
  sessionOf: (instance: InstanceName) => Pick<NetworkSession, 'labels'> | undefined
  counts: Pick<RealtimeCounts, 'count'>
  clock: Clock
  log: Log
}

type Run = { done: Promise<void>; stopping: AbortController; isWoken: boolean }

const batchSize = 20
const pauses = { firstMs: 5000, ceilingMs: longestLabelPauseMs }

export class LabelWorker implements PerInstance {
  readonly #deps: Deps
  readonly #runs = new Map<InstanceName, Run>()
  /** Instances with chats that may be due later, with the time of the first one. */
  readonly #waiting = new Map<InstanceName, number>()
  #isOver = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Chats of the instance may be due. */
  wake(instance: InstanceName): void {
    if (this.#isOver) return
    const running = this.#runs.get(instance)
    if (running) {
      running.isWoken = true
      return
    }
    const run: Run = { done: Promise.resolve(), stopping: new AbortController(), isWoken: true }
    this.#runs.set(instance, run)
    run.done = this.#run(instance, run)
  }

  /** Takes up what was put off. A ticker calls it. */
  retry(): void {
    const now = this.#deps.clock.now()
    for (const [instance, dueAt] of [...this.#waiting]) if (dueAt <= now) this.wake(instance)
  }

  /** Waits for the look under way. */
  async leave(instance: InstanceName): Promise<void> {
    const run = this.#runs.get(instance)
    run?.stopping.abort()
    await run?.done
    this.#waiting.delete(instance)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await Promise.all([...this.#runs.keys()].map((instance) => this.leave(instance)))
  }

  async #run(instance: InstanceName, run: Run): Promise<void> {
    const { signal } = run.stopping
    try {
      while (run.isWoken && !signal.aborted) {
        run.isWoken = false
        await this.#lookAtDue(instance, signal)
      }
    } catch (err) {
      if (signal.aborted) return
      this.#waiting.set(instance, 0)
      this.#deps.log.warn({ err, instance }, 'the labels of a chat could not be looked at')
    } finally {
      // In one turn with the last look at `isWoken`, so that no call of `wake` falls in between.
      this.#runs.delete(instance)
    }
  }

  async #lookAtDue(instance: InstanceName, signal: AbortSignal): Promise<void> {
    const { agreements, clock } = this.#deps
    for (;;) {
      const network = this.#networkOf(instance)
      if (signal.aborted) return
      if (!network) {
        // The news of a new connection may come before the account counts as connected.
        this.#waiting.set(instance, 0)
        return
      }
      const due = await agreements.due(instance, clock.now(), batchSize)
      if (due.length === 0) {
        await this.#waitForNext(instance, signal)
        return
      }
      for (const each of due) {
        signal.throwIfAborted()
        await this.#lookAt(instance, each, network)
      }
    }
  }

  async #lookAt(instance: InstanceName, due: DueLabels, network: NetworkLabels): Promise<void> {
    const { agreements, look, counts, clock } = this.#deps
    const { chat, agreement: before, mark, attempts } = due
    const { result, agreement, isDone } = await look.run({ instance, chat, agreement: before, network })
    counts.count(instance, 'labels', result)
    const next = isDone ? null : { at: clock.now() + doubledMs(attempts, pauses), attempts: attempts + 1 }
    await agreements.settle({ instance, chat }, agreement, mark, next)
  }

  async #waitForNext(instance: InstanceName, signal: AbortSignal): Promise<void> {
    const dueAt = await this.#deps.agreements.nextDueAt(instance)
    if (dueAt === null || signal.aborted) this.#waiting.delete(instance)
    else this.#waiting.set(instance, dueAt)
  }

  #networkOf(instance: InstanceName): NetworkLabels | undefined {
    const labels = this.#deps.sessionOf(instance)?.labels
    return labels?.isRead ? labels : undefined
  }
}
