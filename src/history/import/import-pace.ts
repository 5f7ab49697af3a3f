// Says when the next message of the history may be posted. All instances share one rate and take turns. A conversation gets
// at most three messages per second, because the helpdesk takes only 200 per minute.

import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'

type Deps = {
  clock: Clock
  /** Messages per second over all instances. */
  ratePerSec: number
  /** Whether the helpdesk inbox has many live messages at the moment. */
  isBusy: (destination: DestinationKey) => boolean
}

export type PaceRequest = { instance: InstanceName; destination: DestinationKey; conversationId: number }

type Waiter = { conversation: string; come: () => void }

const perConversationMs = 1000 / 3
/** How long live messages go first at the most: an import must not stand still for ever. */
const longestBusyMs = 10_000
const busyPauseMs = 100
const mostRemembered = 1000

export class ImportPace {
  readonly #deps: Deps
  readonly #intervalMs: number
  /** The instances that wait, in the order of their turns. */
  readonly #waiting = new Map<InstanceName, Waiter[]>()
  /** When a conversation may get its next message, on the monotonic clock. */
  readonly #conversations = new Map<string, number>()
  #nextAt = 0
  #cancel: (() => void) | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.#intervalMs = 1000 / deps.ratePerSec
  }

  /** Messages per second that an instance can count on while the others import as they do now. */
  get share(): number {
    return this.#deps.ratePerSec / Math.max(1, this.#waiting.size)
  }

  /** Resolves when a message may be posted into the conversation. Rejects when the signal aborts. */
  async turn({ instance, destination, conversationId }: PaceRequest, signal: AbortSignal): Promise<void> {
    await this.#giveWay(destination, signal)
    await this.#enqueue(instance, `${destination}|${conversationId}`, signal)
  }

  /** Live messages go first. */
  async #giveWay(destination: DestinationKey, signal: AbortSignal): Promise<void> {
    const { clock, isBusy } = this.#deps
    const until = clock.monotonic() + longestBusyMs
    while (isBusy(destination) && clock.monotonic() < until && !signal.aborted) {
      await sleep(clock, busyPauseMs, signal)
    }
  }

  #enqueue(instance: InstanceName, conversation: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const leave = () => {
        this.#remove(instance, waiter)
        reject(signal.reason as Error)
      }
      const come = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiter = { conversation, come }
      const queue = this.#waiting.get(instance)
      if (queue) queue.push(waiter)
      else this.#waiting.set(instance, [waiter])
      signal.addEventListener('abort', leave, { once: true })
      this.#serve()
    })
  }

  /** Gives as many turns as are due, and comes back when the next one is. */
  #serve(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const now = this.#deps.clock.monotonic()
    for (;;) {
      const dueAt = this.#serveOne(now)
      if (dueAt === 'served') continue
      if (dueAt !== Infinity) {
        this.#cancel = this.#deps.clock.after(dueAt - now, () => {
          this.#serve()
        })
      }
      return
    }
  }

  /** Serves the next instance whose conversation may get a message. Else returns when to look again. */
  #serveOne(now: number): 'served' | number {
    if (this.#waiting.size === 0) return Infinity
    if (this.#nextAt > now) return this.#nextAt
    let dueAt = Infinity
    for (const [instance, queue] of this.#waiting) {
      for (const waiter of queue) {
        const readyAt = this.#conversations.get(waiter.conversation) ?? 0
        if (readyAt <= now) {
          this.#remove(instance, waiter)
          this.#moveBack(instance)
          this.#take(waiter.conversation, now)
          waiter.come()
          return 'served'
        }
        dueAt = Math.min(dueAt, readyAt)
      }
    }
    return dueAt
  }

  #take(conversation: string, now: number): void {
    this.#nextAt = now + this.#intervalMs
    this.#conversations.set(conversation, now + perConversationMs)
    if (this.#conversations.size <= mostRemembered) return
    for (const [each, readyAt] of this.#conversations) if (readyAt <= now) this.#conversations.delete(each)
  }

  /** The other instances that wait have their turns first. */
  #moveBack(instance: InstanceName): void {
    const queue = this.#waiting.get(instance)
    if (!queue) return
    this.#waiting.delete(instance)
    this.#waiting.set(instance, queue)
  }

  #remove(instance: InstanceName, waiter: Waiter): void {
    const queue = this.#waiting.get(instance) ?? []
    const at = queue.indexOf(waiter)
    if (at >= 0) queue.splice(at, 1)
    if (queue.length === 0) this.#waiting.delete(instance)
  }
}
