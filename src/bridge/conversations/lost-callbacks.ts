// Knows the destinations that cannot deliver their callbacks to the service. What agents write there does not reach us, and
// the helpdesk tells us nothing. But the helpdesk marks messages as failed, and the conversations that we read show this.
//
// heard → lost  when the newest message of a conversation shows that its callback failed, and no callback came since
// lost → heard  when a callback comes, when a newer message shows no failure, or when no message shows it for a day

import { inboxPlace } from '../../core/downstream.ts'
import type { Destination } from '../../core/downstream.ts'
import type { CallbackFailure, CallbackSign } from '../../core/helpdesk/conversation.ts'
import type { DestinationKey } from '../../core/ids.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import type { Log } from '../../lib/log.ts'

type Deps = { clock: Clock; log: Log }
/** `destination` is the place, as operators see it. `shownAt` is the time of the newest message that shows the failure. */
type Lost = CallbackFailure & { destination: string; since: number; shownAt: number }
type FailureListener = (destination: DestinationKey, messageId: number) => void
export type LostCallback = Pick<Lost, 'destination' | 'reason' | 'advice' | 'since'>

const dayMs = 24 * 3_600_000
/** How long the same warning is not repeated. */
const warnedMs = 3_600_000
const maxWarned = 1000

export class LostCallbacks {
  readonly #deps: Deps
  readonly #startedAt: number
  readonly #heardAt = new Map<DestinationKey, number>()
  readonly #lost = new Map<DestinationKey, Lost>()
  readonly #warned: BoundedMap<true>
  readonly #failureListeners: FailureListener[] = []
  readonly #awaiting = new Map<DestinationKey, Set<() => void>>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#startedAt = deps.clock.now()
    this.#warned = new BoundedMap({ clock: deps.clock, max: maxWarned, ttlMs: warnedMs })
  }

  list(): LostCallback[] {
    const since = this.#deps.clock.now() - dayMs
    for (const [key, { shownAt }] of [...this.#lost]) if (shownAt < since) this.#lost.delete(key)
    return [...this.#lost.values()].map(({ destination, reason, advice, since }) => ({
      destination,
      reason,
      advice,
      since,
    }))
  }

  /** A callback of this destination came. */
  heard(key: DestinationKey): void {
    this.#heardAt.set(key, this.#deps.clock.now())
    this.#end(key)
    for (const tell of this.#awaiting.get(key) ?? []) tell()
  }

  /** Whether a callback of this destination came at this time or later. */
  hasHeardSince(key: DestinationKey, at: number): boolean {
    return (this.#heardAt.get(key) ?? -Infinity) >= at
  }

  /** Resolves to true when the next callback of this destination comes; to false after `ms`, or when the signal aborts. */
  async next(key: DestinationKey, ms: number, signal: AbortSignal): Promise<boolean> {
    const heard = new AbortController()
    const tell = () => {
      heard.abort()
    }
    const waiting = getOrCreate(this.#awaiting, key, () => new Set())
    waiting.add(tell)
    await sleep(this.#deps.clock, ms, AbortSignal.any([signal, heard.signal]))
    waiting.delete(tell)
    if (waiting.size === 0) this.#awaiting.delete(key)
    return heard.signal.aborted
  }

  /** Calls `listener` for a message to a customer that a conversation shows as failed. */
  onFailedMessage(listener: FailureListener): void {
    this.#failureListeners.push(listener)
  }

  /** A conversation was read, and its newest message shows whether callbacks arrive. */
  noteSign(destination: Destination, { at, failure, failedId }: CallbackSign): void {
    const { key } = destination
    if (failedId !== null) for (const listener of this.#failureListeners) listener(key, failedId)
    const known = this.#lost.get(key)
    if (failure) this.#lose(destination, at, failure)
    else if (known && at > known.shownAt) this.#end(key)
  }

  /** A failure from before the last callback, or from before the start, is over. */
  #lose(destination: Destination, at: number, { reason, advice }: CallbackFailure): void {
    const { clock, log } = this.#deps
    const { key } = destination
    if (at < (this.#heardAt.get(key) ?? this.#startedAt)) return
    const known = this.#lost.get(key)
    const place = inboxPlace(destination)
    const since = known?.since ?? clock.now()
    this.#lost.set(key, { destination: place, reason, advice, since, shownAt: Math.max(at, known?.shownAt ?? 0) })
    const warning = `${key}|${reason}`
    if (this.#warned.has(warning)) return
    this.#warned.set(warning, true)
    log.warn({ destination: place, reason, advice }, 'the helpdesk cannot deliver its callbacks')
  }

  #end(key: DestinationKey): void {
    const lost = this.#lost.get(key)
    if (!lost) return
    this.#lost.delete(key)
    this.#deps.log.info({ destination: lost.destination }, 'the callbacks of the helpdesk arrive again')
  }
}
