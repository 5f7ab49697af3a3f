// Passes events on to the open dashboards, and keeps the last 500 for listeners that lost their connection.
//
// resting    → collecting when a listener joins
// collecting → resting when there was no listener for a minute: events are dropped at the cost of one comparison, and a
//              listener with an id from before is told to start anew

import { randomBytes } from 'node:crypto'
import { BridgeError } from '../core/errors.ts'
import type { LiveKind } from '../core/live.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { EventRing, formatEvent } from './event-ring.ts'
import { LatestOnly } from './latest-only.ts'

/** expired: the session with which the listener was let in has ended. */
export type ByeReason = 'stopping' | 'slow' | 'expired'

/** The connection of a listener. */
export type LiveSink = {
  write(text: string): void
  /** How many bytes the listener has not taken yet. */
  readonly waiting: number
  /** Ends the connection after the last text. A listener that does not read is cut off. */
  end(text: string): void
}

type Deps = { version: string; clock: Clock; log: Log }

const maxKept = 500
const maxListeners = 32
const maxWaitingBytes = 256 * 1024
const aliveMs = 15_000
const keepCollectingMs = 60_000
const alive = ': alive\n\n'

export class LiveHub {
  readonly #deps: Deps
  readonly #bootId = randomBytes(6).toString('hex')
  readonly #ring = new EventRing(this.#bootId, maxKept)
  readonly #latest: LatestOnly
  readonly #listeners = new Set<LiveSink>()
  #isCollecting = false
  #cancelRest: () => void = () => undefined
  #cancelAlive: () => void = () => undefined
  #isOver = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#latest = new LatestOnly(deps.clock)
  }

  get isCollecting(): boolean {
    return this.#isCollecting
  }

  /** Tells all listeners. `read` gives what is told; undefined when there is nothing to tell any more. */
  publish(kind: LiveKind, read: () => unknown): void {
    if (!this.#isCollecting) return
    let data: unknown
    try {
      data = read()
    } catch (err) {
      // The part that changed must not fail because the dashboard cannot be told.
      this.#deps.log.error({ err, kind }, 'an event for the dashboard could not be made')
      return
    }
    if (data === undefined) return
    const { text } = this.#ring.add(kind, data)
    for (const listener of [...this.#listeners]) this.#write(listener, text)
  }

  /** The same, at most once a second for each key. The last change is told. */
  publishLatest(kind: LiveKind, key: string, read: () => unknown): void {
    if (!this.#isCollecting) return
    this.#latest.run(`${kind} ${key}`, () => {
      this.publish(kind, read)
    })
  }

  /** Refuses when there are too many listeners: called before the answer begins. */
  assertRoom(): void {
    if (this.#isOver) throw new BridgeError('SERVICE_STOPPING', 'the service stops: connect again in some seconds')
    if (this.#listeners.size < maxListeners) return
    const sentence = `${maxListeners} listeners are connected, and there is no room for more: close a dashboard, and try again`
    throw new BridgeError('SERVICE_TOO_MANY_LISTENERS', sentence)
  }

  /** Greets the listener, with what it missed since the event of that id. Returns how it leaves. */
  join(listener: LiveSink, lastId: string | undefined): () => void {
    this.assertRoom()
    const missed = lastId === undefined ? undefined : this.#ring.after(lastId)
    // The place where this stream begins: a listener that is cut off right after the greeting goes on from there.
    const id = missed && lastId !== undefined ? lastId : this.#ring.lastId
    const data = { version: this.#deps.version, boot_id: this.#bootId }
    const reset = lastId !== undefined && !missed ? formatEvent({ kind: 'reset', data: {} }) : ''
    this.#add(listener)
    const texts = [formatEvent({ id, kind: 'hello', data }), reset, ...(missed ?? []).map(({ text }) => text)]
    this.#write(listener, texts.join(''))
    return () => {
      this.#remove(listener)
    }
  }

  /** Ends the stream of one listener. */
  dismiss(listener: LiveSink, reason: ByeReason): void {
    if (!this.#listeners.has(listener)) return
    this.#remove(listener)
    listener.end(formatEvent({ kind: 'bye', data: { reason } }))
  }

  /** The service stops. */
  close(): void {
    this.#isOver = true
    for (const listener of [...this.#listeners]) this.dismiss(listener, 'stopping')
    this.#cancelRest()
    this.#rest()
  }

  #add(listener: LiveSink): void {
    this.#listeners.add(listener)
    this.#cancelRest()
    this.#isCollecting = true
    if (this.#listeners.size === 1) this.#keepAlive()
  }

  #remove(listener: LiveSink): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
    this.#cancelAlive()
    this.#cancelRest = this.#deps.clock.after(keepCollectingMs, () => {
      this.#rest()
    })
  }

  #rest(): void {
    this.#isCollecting = false
    this.#latest.clear()
    this.#ring.interrupt()
  }

  #keepAlive(): void {
    this.#cancelAlive = this.#deps.clock.after(aliveMs, () => {
      this.#keepAlive()
      for (const listener of [...this.#listeners]) this.#write(listener, alive)
    })
  }

  #write(listener: LiveSink, text: string): void {
    listener.write(text)
    if (listener.waiting > maxWaitingBytes) this.dismiss(listener, 'slow')
  }
}
