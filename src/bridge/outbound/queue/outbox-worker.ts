// Works through the outbox: sends the rows of each chat in order while the account is connected, until each row is sent or
// has failed.

import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { LiveRow, OpenOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import { ChatQueues } from '../../../lib/chat-queues.ts'
import { getOrCreate } from '../../../lib/keyed.ts'
import type { SendWhenStored } from '../send/immediate-send.ts'
import type { OutcomeListener } from './row-outcomes.ts'
import { RowAttempts, sendSlots } from './row-attempts.ts'
import type { AttemptDeps, FreshRow, SendSlots } from './row-attempts.ts'

const instanceDeleted = 'the instance was deleted'

type Deps = AttemptDeps & {
  outbox: OutboxStore
  transitions: OutboxTransitions
  /** Whether there is an instance of this name. */
  exists: (instance: string) => boolean
  /** Whether a stored row is not to be taken up. */
  isOpen: (id: string) => boolean
}

type Account = { slots: SendSlots; isReady: boolean }

export class OutboxWorker {
  readonly #deps: Deps
  readonly #accounts = new Map<string, Account>()
  readonly #queues: ChatQueues<FreshRow>

  constructor(deps: Deps) {
    this.#deps = deps
    const { clock, outcomes } = deps
    const attempts = new RowAttempts(deps)
    this.#queues = new ChatQueues({
      clock,
      work: (instance, { id, row: fresh }, signal) =>
        attempts.attempt({ instance, id, fresh, slots: this.#accountOf(instance).slots, signal }),
      onResting: (ids) => {
        for (const id of ids) outcomes.notify(id, { kind: 'waiting' })
      },
    })
  }

  /** Takes up what earlier processes have accepted. */
  async load(): Promise<void> {
    const { outbox, transitions, clock, exists, outcomes } = this.#deps
    await transitions.recover()
    const rows = await outbox.live()
    for (const instance of new Set(rows.map((row) => row.instance))) {
      if (exists(instance)) await transitions.startWaiting(instance, clock.now())
      else
        await outcomes.failAll(
          rows.filter((row) => row.instance === instance),
          instanceDeleted,
        )
    }
    for (const { instance, chat, id } of rows) {
      if (!exists(instance)) continue
      this.#accountOf(instance)
      this.#queues.add(instance, chat, { id, row: null })
    }
    for (const instance of this.#accounts.keys()) this.connectionChanged(instance)
  }

  /** Queues a stored row. The listener hears what becomes of it, more than once if the row has to wait. */
  submit({ id, instance, chat }: LiveRow, listener?: OutcomeListener, fresh?: OpenOutboxRow): void {
    if (listener) this.#deps.outcomes.listen(id, listener)
    this.#accountOf(instance)
    // A row that waits behind others is read again in its turn: it may have changed by then.
    const isNext = this.#queues.isFree(instance, chat)
    this.#queues.push(instance, chat, { id, row: fresh && isNext ? { row: fresh } : null })
  }

  /**
   * Queues a row that is being stored as one about to leave. It leaves when `stored` resolves to true. Returns false when the
   * row would have to wait: then the caller stores and submits it like any other.
   */
  startPrepared(row: OpenOutboxRow, immediate: SendWhenStored, listener: OutcomeListener): boolean {
    const { instance, id, chat } = row
    const { sessionOf, pace, outcomes } = this.#deps
    const { texts } = this.#accountOf(instance).slots
    if (!sessionOf(instance) || !this.#queues.isFree(instance, chat) || texts.isFull) return false
    if (!pace.tryAcquire(instance)) return false
    outcomes.listen(id, listener)
    this.#queues.push(instance, chat, { id, row: { row, immediate } })
    return true
  }

  /** Takes a row out of its queue that is finished without having been sent. */
  drop({ id, instance }: Pick<LiveRow, 'id' | 'instance'>): void {
    this.#queues.remove(instance, id)
  }

  /** From memory. */
  counts(): { pending: number; lanes: number; longestLane: number } {
    const { rows, chats, longest } = this.#queues.counts()
    return { pending: rows, lanes: chats, longestLane: longest }
  }

  /** The account became ready, or is no longer. */
  connectionChanged(instance: string): void {
    const account = this.#accounts.get(instance)
    const isReady = this.#deps.sessionOf(instance) !== undefined
    if (!account || account.isReady === isReady) return
    account.isReady = isReady
    void this.#follow(instance, isReady)
  }

  /** A safety net for missed signals: tries every queue of every connected account, and queues stored rows that are in none. */
  async drain(): Promise<void> {
    for (const [instance, { isReady }] of this.#accounts) {
      if (this.#queues.size(instance) === 0 && !isReady) this.#accounts.delete(instance)
      else if (this.#deps.sessionOf(instance)) this.#queues.wake(instance)
      this.connectionChanged(instance)
    }
    for (const [instance, count] of await this.#deps.outbox.countPending()) {
      if (this.#queues.size(instance) !== count) await this.#takeUp(instance)
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
    await this.#queues.leave(instance)
    this.#accounts.delete(instance)
    await this.#deps.outcomes.failAll(await this.#deps.outbox.live(instance), instanceDeleted)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#queues.stop()
  }

  /** Queues stored rows that are in no queue, as after a deletion of the instance that could not be finished. */
  async #takeUp(instance: string): Promise<void> {
    const { outbox, exists, isOpen, outcomes } = this.#deps
    const rows = await outbox.live(instance)
    if (!exists(instance)) {
      if (!this.#accounts.has(instance)) await outcomes.failAll(rows, instanceDeleted)
      return
    }
    const queued = this.#queues.ids(instance)
    for (const row of rows) if (!isOpen(row.id) && !queued.has(row.id)) this.submit(row)
  }

  #accountOf(instance: string): Account {
    return getOrCreate(this.#accounts, instance, () => ({
      slots: sendSlots(),
      isReady: this.#deps.sessionOf(instance) !== undefined,
    }))
  }

  async #follow(instance: string, isReady: boolean): Promise<void> {
    const { transitions, clock, log } = this.#deps
    try {
      if (isReady) {
        await this.#expireDue(instance)
        await transitions.stopWaiting(instance, clock.now())
        this.#queues.wake(instance)
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
