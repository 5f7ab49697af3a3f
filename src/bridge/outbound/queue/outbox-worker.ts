// Works the outbox off: every row in its chat's turn, as soon as there is a connection, until it is sent or given up.

import type { PerInstance } from '../../../core/per-instance.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { LiveRow, OpenOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { PreparedSend } from '../send/immediate-send.ts'
import { InstanceLanes } from './chat-queues.ts'
import type { OutcomeListener } from './row-outcomes.ts'
import { RowAttempts, sendSlots } from './row-attempts.ts'
import type { SendSlots, AttemptDeps } from './row-attempts.ts'

const instanceDeleted = 'the instance was deleted'

type Deps = AttemptDeps & {
  outbox: OutboxStore
  transitions: OutboxTransitions
  /** Whether there is an instance of this name. */
  exists: (instance: string) => boolean
  /** Whether a stored row is not to be taken up. */
  isOpen: (id: string) => boolean
}

type Queue = { lanes: InstanceLanes; gates: SendSlots; isReady: boolean }

export class OutboxWorker implements PerInstance {
  readonly #deps: Deps
  readonly #queues = new Map<string, Queue>()
  readonly #turns: RowAttempts

  constructor(deps: Deps) {
    this.#deps = deps
    this.#turns = new RowAttempts(deps)
  }

  /** Sorts out what earlier processes left: rows that were leaving wait again, rows of deleted instances fail. */
  async load(): Promise<void> {
    const { outbox, transitions, exists } = this.#deps
    await transitions.recover()
    for (const instance of (await outbox.countPending()).keys()) if (!exists(instance)) await this.#takeUp(instance)
  }

  /** Takes up the rows that earlier processes have accepted. */
  async take(instance: string): Promise<void> {
    const { outbox, transitions, clock } = this.#deps
    const rows = await outbox.live(instance)
    if (rows.length === 0) return
    await transitions.startWaiting(instance, clock.now())
    const { lanes } = this.#queueOf(instance)
    for (const { chat, id } of rows) lanes.push(chat, id)
    this.connectionChanged(instance)
  }

  async leave(instance: string): Promise<void> {
    await this.#queues.get(instance)?.lanes.close()
    this.#queues.delete(instance)
  }

  /** A row that was just stored, as it was; the listener hears what becomes of it, more than once if it has to wait. */
  submit({ id, instance, chat }: LiveRow, listener?: OutcomeListener, fresh?: OpenOutboxRow): void {
    if (listener) this.#deps.outcomes.listen(id, listener)
    const { lanes } = this.#queueOf(instance)
    lanes.push(chat, id)
    const start = () => {
      lanes.start(chat)
    }
    if (fresh) this.#turns.withFresh(fresh, start)
    else start()
  }

  /**
   * A row that is being stored as about to leave: it has its turn, and leaves when `stored` says that it was. False when
   * it would have to wait; then it must be stored and submitted like any other.
   */
  depart(row: OpenOutboxRow, leaving: PreparedSend, listener: OutcomeListener): boolean {
    const { instance, id, chat } = row
    const { sessionOf, pace, outcomes } = this.#deps
    const { lanes, gates } = this.#queueOf(instance)
    if (!sessionOf(instance) || !lanes.isFree(chat) || gates.texts.isFull || !pace.tryAcquire(instance)) return false
    outcomes.listen(id, listener)
    lanes.push(chat, id)
    this.#turns.expectDeparture(row, leaving)
    lanes.start(chat)
    return true
  }

  /** Somebody else has settled a row. */
  drop({ id, instance }: Pick<LiveRow, 'id' | 'instance'>): void {
    this.#queues.get(instance)?.lanes.drop(id)
  }

  /** How much is to be done, from memory. */
  counts(): { pending: number; lanes: number; longestLane: number } {
    const counts = { pending: 0, lanes: 0, longestLane: 0 }
    for (const { lanes } of this.#queues.values()) {
      counts.pending += lanes.size
      counts.lanes += lanes.lines
      counts.longestLane = Math.max(counts.longestLane, lanes.longest)
    }
    return counts
  }

  stopListening(id: string): void {
    this.#deps.outcomes.stopListening(id)
  }

  /** The account became ready, or is no longer. */
  connectionChanged(instance: string): void {
    const queue = this.#queues.get(instance)
    const isReady = this.#deps.sessionOf(instance) !== undefined
    if (!queue || queue.isReady === isReady) return
    queue.isReady = isReady
    void this.#follow(instance, queue, isReady)
  }

  /** Every line of every connected account looks again, and so does what is in no line: what a missed signal would leave behind. */
  async drain(): Promise<void> {
    for (const [instance, { lanes, isReady }] of this.#queues) {
      if (lanes.size === 0 && !isReady) this.#queues.delete(instance)
      else if (this.#deps.sessionOf(instance)) lanes.wake()
      this.connectionChanged(instance)
    }
    for (const [instance, count] of await this.#deps.outbox.countPending()) {
      if (this.#queues.get(instance)?.lanes.size !== count) await this.#takeUp(instance)
    }
  }

  async expire(): Promise<void> {
    const { outbox, transitions, clock, sessionOf } = this.#deps
    for (const instance of (await outbox.countPending()).keys()) {
      // A row that was stored while the connection went may have missed that it waits.
      if (!sessionOf(instance)) await transitions.startWaiting(instance, clock.now())
      await this.#expireDue(instance)
    }
  }

  /** The instance is gone: nothing of it is sent any more. */
  async forget(instance: string): Promise<void> {
    await this.leave(instance)
    await this.#deps.outcomes.failAll(await this.#deps.outbox.live(instance), instanceDeleted)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#queues.values()].map(({ lanes }) => lanes.close()))
  }

  /** Rows that are stored and in no line, as after a deletion of the instance that could not be finished. */
  async #takeUp(instance: string): Promise<void> {
    const { outbox, exists, isOpen, outcomes } = this.#deps
    const rows = await outbox.live(instance)
    if (!exists(instance)) {
      if (!this.#queues.has(instance)) await outcomes.failAll(rows, instanceDeleted)
      return
    }
    const { lanes } = this.#queueOf(instance)
    for (const { id, chat } of rows) if (!isOpen(id) && lanes.push(chat, id)) lanes.start(chat)
  }

  #queueOf(instance: string): Queue {
    const known = this.#queues.get(instance)
    if (known) return known
    const { clock, sessionOf, outcomes } = this.#deps
    const gates = sendSlots()
    const step = (id: string, signal: AbortSignal) => this.#turns.take({ instance, id, gates, signal })
    const onResting = (ids: readonly string[]) => {
      for (const id of ids) outcomes.notify(id, { kind: 'waiting' })
    }
    const lanes = new InstanceLanes({ clock, step, onResting })
    const queue = { lanes, gates, isReady: sessionOf(instance) !== undefined }
    this.#queues.set(instance, queue)
    return queue
  }

  async #follow(instance: string, { lanes }: Queue, isReady: boolean): Promise<void> {
    const { transitions, clock, log } = this.#deps
    try {
      if (isReady) {
        await this.#expireDue(instance)
        await transitions.stopWaiting(instance, clock.now())
        lanes.wake()
      } else await transitions.startWaiting(instance, clock.now())
    } catch (err) {
      log.error({ err, instance }, 'the outbox could not follow a change of the connection')
    }
  }

  #expireDue(instance: string): Promise<void> {
    return this.#deps.outcomes.expire(instance, (row) => {
      this.drop(row)
    })
  }
}
