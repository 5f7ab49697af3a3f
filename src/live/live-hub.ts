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
import { Listeners, maxWaitingBytes } from './listeners.ts'
import type { ByeReason, LiveSink } from './listeners.ts'

type Deps = { version: string; maxListeners: number; clock: Clock; log: Log }

const maxKept = 500
/** A longer replay could be all that a listener may leave unread: it would be cut off before it could read. */
const maxReplay = maxWaitingBytes / 2
const aliveMs = 15_000
const keepCollectingMs = 60_000
const alive = ': alive\n\n'

export class LiveHub {
  readonly #deps: Deps
  readonly #bootId = randomBytes(6).toString('hex')
  readonly #ring = new EventRing(this.#bootId, maxKept)
  readonly #latest: LatestOnly
  readonly #listeners: Listeners
  #isCollecting = false
  #cancelRest: () => void = () => undefined
  #cancelAlive: () => void = () => undefined
  #isOver = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#latest = new LatestOnly(deps.clock)
    this.#listeners = new Listeners({
      max: deps.maxListeners,
      onNone: () => {
        this.#planRest()
      },
    })
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
    this.#listeners.tell(text)
  }

  /** The same, at most once a second for each key. The last change is told. */
  publishLatest(kind: LiveKind, key: string, read: () => unknown): void {
    if (!this.#isCollecting) return
    this.#latest.run(`${kind} ${key}`, () => {
      this.publish(kind, read)
    })
  }

  /** Refuses when there are too many listeners: called before the answer begins. `session` is that of a dashboard. */
  makeRoom(session: string | null): void {
    if (this.#isOver) throw new BridgeError('SERVICE_STOPPING', 'the service stops: connect again in some seconds')
    this.#listeners.makeRoom(session)
  }

  /** Greets the listener, with what it missed since the event of that id. Returns how it leaves. */
  join(listener: LiveSink, lastId: string | undefined, session: string | null = null): () => void {
    this.makeRoom(session)
    const missed = lastId === undefined ? undefined : this.#missedSince(lastId)
    // The place where this stream begins: a listener that is cut off right after the greeting goes on from there.
    const id = missed !== undefined && lastId !== undefined ? lastId : this.#ring.lastId
    const data = { version: this.#deps.version, boot_id: this.#bootId }
    const reset = lastId !== undefined && missed === undefined ? formatEvent({ kind: 'reset', data: {} }) : ''
    this.#listeners.add(listener, session)
    this.#collect()
    this.#listeners.write(listener, formatEvent({ id, kind: 'hello', data }) + reset + (missed ?? ''))
    return () => {
      this.#listeners.remove(listener)
    }
  }

  /** Ends the stream of one listener. */
  dismiss(listener: LiveSink, reason: ByeReason): void {
    this.#listeners.dismiss(listener, reason)
  }

  /** The service stops. */
  close(): void {
    this.#isOver = true
    this.#listeners.dismissAll('stopping')
    this.#cancelRest()
    this.#rest()
  }

  /** Undefined when it is not known any more, or too long. */
  #missedSince(lastId: string): string | undefined {
    const text = this.#ring
      .after(lastId)
      ?.map((event) => event.text)
      .join('')
    return text !== undefined && text.length <= maxReplay ? text : undefined
  }

  #collect(): void {
    this.#cancelRest()
    this.#isCollecting = true
    if (this.#listeners.count === 1) this.#keepAlive()
  }

  #planRest(): void {
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
      this.#listeners.tell(alive)
    })
  }
}
