// Works through the outbox: sends the rows of each chat in order while the account is connected, until each row is sent or
// has failed.

import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { TimeNeeds } from '../../../storage/stores/messages/waiting-sql.ts'
import type { LiveRow, OpenOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { ChatId, InstanceName, RowId } from '../../../core/ids.ts'
import type { RowScope } from '../../../core/nodes/duties.ts'
import { unlessLost } from '../../../core/nodes/hold.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import type { Acquired, Pace } from '../../../guard/pace.ts'
import { ChatQueues } from '../../../lib/queues/chat-queues.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { getOrCreate } from '../../../lib/keyed.ts'
import type { SendWhenStored } from '../send/immediate-send.ts'
import type { Readiness, SendingAccounts } from '../send/sending-accounts.ts'
import { inQueueOrder } from './queue-order.ts'
import type { OutcomeListener, RowOutcomes } from './row-outcomes.ts'
import { sendSlots } from './row-attempts.ts'
import { timeNeedsOf } from './time-needs.ts'
import type { FreshRow, RowAttempts, SendSlots } from './row-attempts.ts'

const instanceDeleted = writeReason('instanceDeleted')

type Deps = {
  outbox: Pick<OutboxStore, 'live' | 'liveOfDeleted' | 'countPending' | 'moveRows'>
  transitions: Pick<OutboxTransitions, 'recover' | 'startWaiting' | 'stopWaiting' | 'timeNeeds'>
  attempts: Pick<RowAttempts, 'attempt'>
  outcomes: RowOutcomes
  pace: Pick<Pace, 'tryAcquire'>
  accounts: Pick<SendingAccounts, 'sessionOf' | 'readinessOf' | 'isHere'>
  /** Whether a stored row may still be withdrawn, because its callback has no answer yet. */
  isUndecided: (id: RowId) => boolean
  /** Called when the instance has more or fewer rows than before. */
  onCounted?: ((instance: InstanceName) => void) | undefined
  clock: Clock
  log: Log
}

type Account = { slots: SendSlots; readiness: Readiness }

export class OutboxWorker implements PerInstance {
  readonly #deps: Deps
  readonly #accounts = new Map<InstanceName, Account>()
  readonly #queues: ChatQueues<FreshRow>
  /** A deletion, of this process or of the one before it. */
  #mayBeUnfinished = true

  constructor(deps: Deps) {
    this.#deps = deps
    const { clock, attempts, outcomes, onCounted } = deps
    this.#queues = new ChatQueues({
      clock,
      onCounted,
      work: (instance, { id, row: fresh }, signal) =>
        attempts.attempt({ instance, id, fresh, slots: this.#accountOf(instance).slots, signal }),
      onResting: (ids) => {
        for (const id of ids) outcomes.notify(id, { kind: 'waiting' })
      },
    })
  }

  /**
   * A deletion of an instance may not have been finished. For the first node. The only process on its database looks after its
   * start and after its own deletions: no other one deletes.
   */
  async failRowsOfDeletedInstances(isOnlyProcess: boolean): Promise<void> {
    const { outbox, outcomes } = this.#deps
    if (isOnlyProcess && !this.#mayBeUnfinished) return
    // Before the work: a deletion meanwhile sets it again.
    this.#mayBeUnfinished = false
    try {
      await unlessLost(outcomes.failAll(await outbox.liveOfDeleted(), instanceDeleted))
    } catch (error) {
      this.#mayBeUnfinished = true
      throw error
    }
  }

  /** Queues the stored rows of an instance. They wait until it is connected. */
  async take(instance: InstanceName): Promise<void> {
    const { outbox, transitions, isUndecided, clock } = this.#deps
    const stored = await outbox.live(instance)
    const rows = inQueueOrder(stored).filter(({ id }) => !isUndecided(id))
    if (rows.length === 0) return
    if (stored.some(({ isSending }) => isSending)) await transitions.recover(instance)
    if (stored.some(({ isLimitless }) => isLimitless)) await transitions.startWaiting(instance, clock.now())
    this.#accountOf(instance)
    const queued = this.#queues.ids(instance)
    for (const { id, chatId } of rows) {
      if (!queued.has(id)) this.#queues.add(instance, chatId, { id, row: null })
    }
    this.connectionChanged(instance)
  }

  /** Messages that are accepted from now on are only stored. */
  rest(instance: InstanceName): Promise<void> {
    return this.#queues.rest(instance)
  }

  /** The instance stops in this process. Its rows stay stored. */
  async leave(instance: InstanceName): Promise<void> {
    await this.#queues.leave(instance)
    this.#accounts.delete(instance)
  }

  /** Queues a stored row. The listener hears what becomes of it, more than once if the row has to wait. */
  submit(
    { id, instance, chatId }: Pick<LiveRow, 'id' | 'instance' | 'chatId'>,
    listener?: OutcomeListener,
    fresh?: OpenOutboxRow,
  ): void {
    if (listener) this.#deps.outcomes.listen(id, listener)
    this.#accountOf(instance)
    // The drain may have queued the row since it was stored.
    if (this.#queues.ids(instance).has(id)) return
    // A row that waits behind others is read again in its turn: it may have changed by then.
    const isNext = this.#queues.isFree(instance, chatId)
    this.#queues.push(instance, chatId, { id, row: fresh && isNext ? { row: fresh } : null })
  }

  /**
   * Queues a row that is being stored as one about to leave. It leaves when `stored` resolves to true. Returns what
   * the row has acquired of the pace. Undefined when the row would have to wait: then the caller stores and submits it like
   * any other.
   */
  startPrepared(row: OpenOutboxRow, immediate: SendWhenStored, listener: OutcomeListener): Acquired | undefined {
    const { instance, id, chatId } = row
    const { accounts, pace, outcomes } = this.#deps
    const { texts } = this.#accountOf(instance).slots
    if (!accounts.sessionOf(instance) || !this.#queues.isFree(instance, chatId) || texts.isFull) return undefined
    const acquired = pace.tryAcquire(instance)
    if (!acquired) return undefined
    outcomes.listen(id, listener)
    this.#queues.push(instance, chatId, { id, row: { row, immediate } })
    return acquired
  }

  /** Whether this node has no row of the chat in hand. */
  isFree(instance: InstanceName, chatId: ChatId): boolean {
    return this.#queues.isFree(instance, chatId)
  }

  /** Queues the rows that other nodes have stored for an instance of this one. */
  async lookAgain(instance: InstanceName): Promise<void> {
    if (this.#deps.accounts.isHere(instance)) await unlessLost(this.#takeUp(instance))
  }

  /** Takes a row out of its queue that is finished without having been sent. */
  drop({ id, instance }: Pick<LiveRow, 'id' | 'instance'>): void {
    this.#queues.remove(instance, id)
  }

  /**
   * Two records of a person became one: their rows become one queue in the order of acceptance. `accepted` resolves when the
   * messages that were being accepted meanwhile are stored. Their rows may still name the dropped chat.
   */
  async merged(
    instance: InstanceName,
    ids: { keep: ChatId; drop: ChatId },
    accepted: () => Promise<void>,
  ): Promise<void> {
    this.#queues.merge(instance, ids.keep, ids.drop)
    await accepted()
    try {
      await this.#deps.outbox.moveRows(instance, ids)
    } catch (err) {
      this.#deps.log.error({ err, instance }, 'messages to a person with two records could not be joined')
    }
  }

  /** From memory. */
  counts(): { pending: number; lanes: number; longestLane: number } {
    const { rows, chats, longest } = this.#queues.counts()
    return { pending: rows, lanes: chats, longestLane: longest }
  }

  /** How many rows of the instance are not sent yet; from memory. */
  countOf(instance: InstanceName): number {
    return this.#queues.size(instance)
  }

  /** Whether a file of the instance is on its way to the network. */
  isSendingFile(instance: InstanceName): boolean {
    return this.#accounts.get(instance)?.slots.files.isEmpty === false
  }

  /** The account logged in, became ready to send, or stopped being so. */
  connectionChanged(instance: InstanceName): void {
    const account = this.#accounts.get(instance)
    const readiness = this.#deps.accounts.readinessOf(instance)
    if (!account || account.readiness === readiness) return
    account.readiness = readiness
    void this.#follow(instance, readiness)
  }

  /** A safety net for missed signals: tries every queue of every connected account, and queues stored rows that are in none. */
  async drain(scope: RowScope): Promise<void> {
    for (const [instance, { readiness }] of this.#accounts) {
      if (this.#queues.size(instance) === 0 && readiness === 'away') this.#accounts.delete(instance)
      else if (this.#deps.accounts.sessionOf(instance)) this.#queues.wake(instance)
      this.connectionChanged(instance)
    }
    for (const [instance, count] of await this.#deps.outbox.countPending(scope)) {
      if (this.#queues.size(instance) !== count) await unlessLost(this.#takeUp(instance))
    }
  }

  async expire(scope: RowScope): Promise<void> {
    const { outbox, accounts } = this.#deps
    const instances = [...(await outbox.countPending(scope)).keys()]
    for await (const [instance, needs] of timeNeedsOf(this.#deps, instances)) {
      if (accounts.isHere(instance)) await unlessLost(this.#expireOf(instance, needs))
    }
  }

  /** Most instances need nothing of this at a time. */
  async #expireOf(instance: InstanceName, { isLimitless, isOverdue, isLimited }: TimeNeeds): Promise<void> {
    const { transitions, clock, accounts } = this.#deps
    const readiness = accounts.readinessOf(instance)
    // A row that was stored while the connection was lost may not wait yet.
    if (readiness === 'away' && isLimitless) await transitions.startWaiting(instance, clock.now())
    if (isOverdue) await this.#expireDue(instance)
    // A row that was stored since the login has a time limit, which must not run.
    if (readiness === 'receiving' && isLimited) await transitions.stopWaiting(instance, clock.now())
  }

  /** The instance is deleted: its rows fail. Rejects with a `NotHeldError` when this node may not write them. */
  async forget(instance: InstanceName): Promise<void> {
    this.#mayBeUnfinished = true
    await this.leave(instance)
    await this.#deps.outcomes.failAll(await this.#deps.outbox.live(instance), instanceDeleted)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#queues.stop()
  }

  /** Queues stored rows that are in no queue, such as those that another node stored. */
  async #takeUp(instance: InstanceName): Promise<void> {
    const { outbox, accounts, isUndecided } = this.#deps
    if (!accounts.isHere(instance)) return
    const rows = inQueueOrder(await outbox.live(instance))
    // The instance may have left meanwhile.
    if (!accounts.isHere(instance)) return
    const places = new Map(rows.map(({ id }, place) => [id, place]))
    const queued = this.#queues.ids(instance)
    const missing = rows.filter(({ id }) => !isUndecided(id) && !queued.has(id))
    if (missing.length === 0) return
    this.#accountOf(instance)
    for (const { id, chatId } of missing) {
      const place = places.get(id) ?? 0
      // What was stored since the rows were read is later than all of them.
      this.#queues.insert(instance, chatId, { id, row: null }, (other) => (places.get(other) ?? Infinity) > place)
    }
    await this.#limitTime(instance)
  }

  /** The rows of another node have the time limit of an account that is away. */
  async #limitTime(instance: InstanceName): Promise<void> {
    const { transitions, clock, accounts } = this.#deps
    if (accounts.readinessOf(instance) === 'away') await transitions.startWaiting(instance, clock.now())
    else await this.#stopWaiting(instance)
  }

  /** What is overdue expires first. */
  async #stopWaiting(instance: InstanceName): Promise<void> {
    const { transitions, clock } = this.#deps
    await this.#expireDue(instance)
    await transitions.stopWaiting(instance, clock.now())
  }

  #accountOf(instance: InstanceName): Account {
    return getOrCreate(this.#accounts, instance, () => ({
      slots: sendSlots(),
      readiness: this.#deps.accounts.readinessOf(instance),
    }))
  }

  /** The rows wait for as long as the account receives what waited for it: their time limit does not run. */
  async #follow(instance: InstanceName, readiness: Readiness): Promise<void> {
    const { transitions, clock, log } = this.#deps
    try {
      if (readiness === 'away') await transitions.startWaiting(instance, clock.now())
      else await this.#stopWaiting(instance)
      if (readiness === 'ready') this.#queues.wake(instance)
    } catch (err) {
      log.error({ err, instance }, 'the outbox could not follow a change of the connection')
    }
  }

  #expireDue(instance: InstanceName): Promise<void> {
    return this.#deps.outcomes.expire(instance, (row) => {
      this.drop(row)
    })
  }
}
