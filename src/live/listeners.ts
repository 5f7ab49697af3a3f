// The connections of those who listen to live events: how many there may be, and when one is cut off.

import { BridgeError } from '../core/errors.ts'
import type { LiveSink } from '../core/live.ts'
import type { Clock } from '../lib/clock.ts'
import { formatEvent } from './event-ring.ts'

/**
 * slow: the listener does not read. full: a newer listener of the same session took its place. expired: the session with which
 * it was let in has ended.
 */
export type ByeReason = 'stopping' | 'slow' | 'full' | 'expired'

type Deps = {
  max: number
  /** Called when the last listener is gone. */
  onNone: () => void
  clock: Pick<Clock, 'after'>
}

export const maxWaitingBytes = 256 * 1024
/** So often a listener gets a comment, from which it and proxies on the way see that the stream lives. */
export const aliveMs = 15_000
const alive = ': alive\n\n'

export class Listeners {
  readonly #deps: Deps
  /** The id of the session of each, if it has one; the oldest is first. */
  readonly #open = new Map<LiveSink, string | null>()
  #cancelAlive: () => void = () => undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get count(): number {
    return this.#open.size
  }

  /**
   * Refuses when there are too many. A newer listener of a session takes the place of its oldest one: a browser that lost its
   * network leaves a connection behind that looks open for a quarter of an hour.
   */
  makeRoom(session: string | null): void {
    const { max } = this.#deps
    if (this.#open.size < max) return
    const [oldest] = [...this.#open].find(([, other]) => session !== null && other === session) ?? []
    if (oldest) this.dismiss(oldest, 'full')
    else throw tooMany(max)
  }

  add(listener: LiveSink, session: string | null = null): void {
    this.#open.set(listener, session)
    if (this.#open.size === 1) this.#keepAlive()
  }

  remove(listener: LiveSink): void {
    if (!this.#open.delete(listener) || this.#open.size > 0) return
    this.#cancelAlive()
    this.#deps.onNone()
  }

  tell(text: string): void {
    for (const listener of [...this.#open.keys()]) this.write(listener, text)
  }

  write(listener: LiveSink, text: string): void {
    listener.write(text)
    if (listener.waiting > maxWaitingBytes) this.dismiss(listener, 'slow')
  }

  /** Ends the stream of one listener. */
  dismiss(listener: LiveSink, reason: ByeReason): void {
    if (!this.#open.has(listener)) return
    this.remove(listener)
    listener.end(formatEvent({ kind: 'bye', data: { reason } }))
  }

  dismissAll(reason: ByeReason): void {
    for (const listener of [...this.#open.keys()]) this.dismiss(listener, reason)
  }

  #keepAlive(): void {
    this.#cancelAlive = this.#deps.clock.after(aliveMs, () => {
      this.#keepAlive()
      this.tell(alive)
    })
  }
}

function tooMany(max: number): BridgeError {
  const sentence = `${max} listeners are connected, and there is no room for more: close a dashboard, and try again`
  return new BridgeError('SERVICE_TOO_MANY_LISTENERS', sentence)
}
