// Tells the helpdesk what the phones report. What is due is stored, so a restart goes on where the last process stopped.

import type { DestinationKey, InstanceName } from '../../../core/ids.ts'
import { heldRows } from '../../../core/nodes/duties.ts'
import type { Duties } from '../../../core/nodes/duties.ts'
import { unlessLost } from '../../../core/nodes/hold.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { KeyedLimits } from '../../../lib/queues/keyed-limits.ts'
import type { DueTick, TickStore } from '../../../storage/stores/messages/tick-store.ts'
import type { TickSetter } from './tick-setter.ts'

type Deps = {
  store: Pick<TickStore, 'due'>
  setter: Pick<TickSetter, 'setIfDue'>
  duties: Pick<Duties, 'held'>
  clock: Clock
  log: Log
  /** Calls `run` in the background. */
  start: () => void
}

type Work = { due: DueTick; done: Promise<void> }

const batchSize = 200
const perDestination = 4
// A destination with more messages in work waits, so that a slow one does not fill the batches.
const mostInWork = 50
// With so few left, more are read. Reading them one by one would cost a query for each message.
const refillBelow = 25

export class TickWorker implements PerInstance {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  /** By destination and message. */
  readonly #works = new Map<string, Work>()
  readonly #limits = new KeyedLimits<DestinationKey>(perDestination)
  readonly #inWork = new Map<DestinationKey, number>()
  /** Messages that became due again while they were in work. */
  readonly #again = new Set<string>()
  #isWoken = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Begins with what is due. A destination that does not answer delays no other. */
  async run(): Promise<void> {
    this.#isWoken = true
    while (this.#isWoken) {
      this.#isWoken = false
      await this.#beginDue()
    }
  }

  /** A message has become due. */
  wake(): void {
    this.#isWoken = true
    if (!this.#stop.signal.aborted) this.#deps.start()
  }

  /** Waits for the requests under way. */
  async leave(instance: InstanceName): Promise<void> {
    await Promise.all([...this.#works.values()].flatMap(({ due, done }) => (due.instance === instance ? done : [])))
  }

  /** Waits for the requests under way: what they set at the helpdesk is stored. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await Promise.all([...this.#works.values()].map(({ done }) => done))
  }

  async #beginDue(): Promise<void> {
    const { store, duties, clock } = this.#deps
    if (this.#stop.signal.aborted) return
    const due = await store.due(clock.now(), batchSize, this.#busyDestinations(), heldRows(duties))
    for (const each of due) {
      const name = nameOf(each)
      const work = this.#works.get(name)
      if (!work && !this.#isBusy(each.destination)) this.#begin(name, each)
      if (work && work.due.dueAt !== each.dueAt) this.#again.add(name)
    }
  }

  #begin(name: string, due: DueTick): void {
    const { destination } = due
    this.#inWork.set(destination, this.#countOf(destination) + 1)
    const done = this.#set(due).then((isSet) => {
      const left = this.#countOf(destination) - 1
      this.#inWork.set(destination, left)
      this.#works.delete(name)
      const isDueAgain = this.#again.delete(name)
      if (isSet && (left === refillBelow || isDueAgain)) this.wake()
    })
    this.#works.set(name, { due, done })
  }

  /** False after an unexpected error: the message is still due, and the next run tries again. */
  async #set(due: DueTick): Promise<boolean> {
    const { setter, log } = this.#deps
    const { signal } = this.#stop
    try {
      await this.#limits.run(due.destination, signal, () => unlessLost(setter.setIfDue(due)))
      return true
    } catch (err) {
      if (!signal.aborted)
        log.error({ err, message_id: due.messageId }, 'a receipt could not be carried to the helpdesk')
      return false
    }
  }

  #countOf(destination: DestinationKey): number {
    return this.#inWork.get(destination) ?? 0
  }

  #isBusy(destination: DestinationKey): boolean {
    return this.#countOf(destination) >= mostInWork
  }

  #busyDestinations(): DestinationKey[] {
    return [...this.#inWork.keys()].filter((destination) => this.#isBusy(destination))
  }
}

function nameOf({ destination, messageId }: DueTick): string {
  return `${destination}|${messageId}`
}
