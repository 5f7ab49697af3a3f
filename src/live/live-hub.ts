// Passes events on to the open dashboards, and keeps the last 500 for listeners that lost their connection.
//
// resting    → collecting when a listener joins
// collecting → resting when there was no listener for a minute: events are dropped at the cost of one comparison, and a
//              listener with an id from before is told to start anew
//
// Other nodes listen too. They hear what happens at this node, and never what this node has heard from another one. What they
// miss is not kept for them.

import { randomBytes } from 'node:crypto'
import { BridgeError } from '../core/errors.ts'
import type { InstanceName } from '../core/ids.ts'
import type { LiveKind, LiveSink } from '../core/live.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { EventRing, formatEvent } from './event-ring.ts'
import { LatestOnly } from './latest-only.ts'
import { Listeners, maxWaitingBytes } from './listeners.ts'
import type { ByeReason } from './listeners.ts'
import { formatNodeEvent } from './node-events.ts'
import type { OtherNodes } from './other-nodes.ts'

type Deps = { version: string; maxListeners: number; clock: Clock; log: Log }

const maxKept = 500
/** A longer replay could be all that a listener may leave unread: it would be cut off before it could read. */
const maxReplay = maxWaitingBytes / 2
const keepCollectingMs = 60_000
const reset = formatEvent({ kind: 'reset', data: {} })

export class LiveHub {
  readonly #deps: Deps
  readonly #bootId = randomBytes(6).toString('hex')
  readonly #ring = new EventRing(this.#bootId, maxKept)
  readonly #latest: LatestOnly
  readonly #listeners: Listeners
  /** Other nodes that listen to this one. */
  readonly #nodes: Listeners
  /** Those that this one listens to; undefined where one process is all. */
  #others: OtherNodes | undefined
  /** For the listeners of this node. */
  #isKeeping = false
  #cancelRest: () => void = () => undefined
  #isOver = false

  constructor(deps: Deps) {
    const { maxListeners: max, clock } = deps
    this.#deps = deps
    this.#latest = new LatestOnly(clock)
    const onNone = () => {
      this.#planRest()
    }
    this.#listeners = new Listeners({ max, clock, onNone })
    this.#nodes = new Listeners({ max: Infinity, clock, onNone: () => undefined })
  }

  /** Events of other nodes are told too from now on. */
  connect(others: OtherNodes): void {
    this.#others = others
  }

  get isCollecting(): boolean {
    return this.#isKeeping || this.#nodes.count > 0
  }

  /**
   * Tells all listeners. `read` gives what is told; undefined when there is nothing to tell any more. `instance` is the one whose
   * events are to stay in order when it moves to another node.
   */
  publish(kind: LiveKind, read: () => unknown, instance?: InstanceName): void {
    if (!this.isCollecting) return
    let data: unknown
    try {
      data = read()
    } catch (err) {
      // The part that changed must not fail because the dashboard cannot be told.
      this.#deps.log.error({ err, kind }, 'an event for the dashboard could not be made')
      return
    }
    if (data === undefined) return
    const subject = instance === undefined ? undefined : this.#others?.subjectOf(instance)
    if (subject && this.#others?.isOld(subject)) return
    if (this.#nodes.count > 0) this.#nodes.tell(formatNodeEvent({ kind, data, subject }))
    this.tellHere(kind, data)
  }

  /** The same, at most once a second for each key. The last change is told. */
  publishLatest(kind: LiveKind, key: string, read: () => unknown, instance: InstanceName): void {
    if (!this.isCollecting) return
    this.#latest.run(`${kind} ${key}`, () => {
      this.publish(kind, read, instance)
    })
  }

  /** Tells the listeners of this node only: the event is of another node, or other nodes have been told. */
  tellHere(kind: LiveKind, data: unknown): void {
    if (!this.#isKeeping) return
    const { text } = this.#ring.add(kind, data)
    this.#listeners.tell(text)
  }

  /** Events of another node were missed: every listener of this node starts anew. */
  startAnew(): void {
    this.#ring.interrupt()
    this.#listeners.tell(reset)
  }

  /** Resolves when the events of other nodes come too, or after a second. After that a listener hears what changes. */
  async prepare(): Promise<void> {
    if (this.#isOver) return
    this.#collect()
    // The listener may never join.
    if (this.#listeners.count === 0) this.#planRest()
    await this.#others?.begun()
  }

  /** Refuses when there are too many listeners: called before the answer begins. `session` is that of a dashboard. */
  makeRoom(session: string | null): void {
    if (this.#isOver) throw stopping()
    this.#listeners.makeRoom(session)
  }

  /** Greets the listener, with what it missed since the event of that id. Returns how it leaves. */
  join(listener: LiveSink, lastId: string | undefined, session: string | null = null): () => void {
    this.makeRoom(session)
    const missed = lastId === undefined ? undefined : this.#missedSince(lastId)
    // The place where this stream begins: a listener that is cut off right after the greeting goes on from there.
    const id = missed !== undefined && lastId !== undefined ? lastId : this.#ring.lastId
    const data = { version: this.#deps.version, boot_id: this.#bootId }
    const isTooLate = lastId !== undefined && missed === undefined
    this.#listeners.add(listener, session)
    this.#collect()
    const greeting = formatEvent({ id, kind: 'hello', data })
    this.#listeners.write(listener, greeting + (isTooLate ? reset : '') + (missed ?? ''))
    return () => {
      this.#listeners.remove(listener)
    }
  }

  /** Another node listens, from now on. Returns how it leaves. */
  joinNode(listener: LiveSink): () => void {
    if (this.#isOver) throw stopping()
    this.#nodes.add(listener)
    return () => {
      this.#nodes.remove(listener)
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
    this.#nodes.dismissAll('stopping')
    this.#cancelRest()
    this.#rest()
    this.#latest.clear()
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
    if (this.#isKeeping) return
    this.#isKeeping = true
    this.#others?.listen()
  }

  #planRest(): void {
    this.#cancelRest()
    this.#cancelRest = this.#deps.clock.after(keepCollectingMs, () => {
      this.#rest()
    })
  }

  #rest(): void {
    this.#isKeeping = false
    this.#others?.rest()
    this.#ring.interrupt()
  }
}

function stopping(): BridgeError {
  return new BridgeError('SERVICE_STOPPING', 'the service stops: connect again in some seconds')
}
