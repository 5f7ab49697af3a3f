// Works the outbox off: every row in its chat's turn, as soon as there is a connection, until it is sent or given up.

import type { NetworkSession } from '../core/network.ts'
import type { Pace } from '../guard/pace.ts'
import type { Clock } from '../lib/clock.ts'
import { Gate } from '../lib/gate.ts'
import type { Log } from '../lib/log.ts'
import type { OutboxMoves } from '../storage/outbox-moves.ts'
import type { LiveRow, OpenOutboxRow, OutboxRow } from '../storage/outbox-rows.ts'
import type { OutboxStore } from '../storage/outbox-store.ts'
import type { Deliverer, Verdict } from './deliver.ts'
import type { Departure } from './departures.ts'
import { failureReason } from './failure-reason.ts'
import type { FailureReporter } from './failure-reporter.ts'
import { InstanceLanes } from './instance-lanes.ts'
import type { StepOutcome } from './instance-lanes.ts'
import type { OutboundLedger } from './outbound-ledger.ts'

// The network side of one account works through its sends one by one; more at once only holds files open. Files have places
// of their own: fetched from a slow helpdesk or taken by a slow media host, they would keep every text waiting.
const deliveriesAtOnce = 8
const maxAttempts = 5
const firstPauseMs = 5000
const storagePauseMs = 5000
const timeOver = 'the account was not connected for 5 minutes'
export const instanceDeleted = 'the instance was deleted'

/** What is known of a row when somebody can be told. */
export type RowFate =
  { kind: 'sent'; waid: string } | { kind: 'failed'; reason: string } | { kind: 'waiting' } | { kind: 'cancelled' }

type Deps = {
  outbox: OutboxStore
  moves: OutboxMoves
  deliverer: Deliverer
  reporter: Pick<FailureReporter, 'due'>
  ledger: OutboundLedger
  pace: Pace
  /** Only while the account can send. */
  sessionOf: (instance: string) => NetworkSession | undefined
  /** Whether there is an instance of this name. */
  exists: (instance: string) => boolean
  /** Whether a stored row is not to be taken up. */
  isOpen: (id: string) => boolean
  clock: Clock
  log: Log
}

type Listener = (fate: RowFate) => void
type Leaving = { departure: Departure; stored: Promise<boolean> }
type Queue = { lanes: InstanceLanes; gates: { texts: Gate; files: Gate }; isReady: boolean }

export class OutboxWorker {
  readonly #deps: Deps
  readonly #queues = new Map<string, Queue>()
  readonly #listeners = new Map<string, Listener>()
  readonly #fresh = new Map<string, OpenOutboxRow>()
  readonly #leaving = new Map<string, Leaving & { row: OpenOutboxRow }>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Takes up what earlier processes have accepted. */
  async load(): Promise<void> {
    const { outbox, moves, clock, exists } = this.#deps
    await moves.recover()
    const rows = await outbox.live()
    for (const instance of new Set(rows.map((row) => row.instance))) {
      if (exists(instance)) await moves.startWaiting(instance, clock.now())
      else await this.#failAll(rows.filter((row) => row.instance === instance))
    }
    for (const { instance, chat, id } of rows) if (exists(instance)) this.#queueOf(instance).lanes.push(chat, id)
    for (const instance of this.#queues.keys()) this.connectionChanged(instance)
  }

  /** A row that was just stored, as it was; the listener hears what becomes of it, more than once if it has to wait. */
  submit({ id, instance, chat }: LiveRow, listener?: Listener, fresh?: OpenOutboxRow): void {
    if (listener) this.#listeners.set(id, listener)
    const { lanes } = this.#queueOf(instance)
    lanes.push(chat, id)
    // Good for a row whose turn is now. Before a later turn it may have been changed.
    if (fresh) this.#fresh.set(id, fresh)
    lanes.start(chat)
    this.#fresh.delete(id)
  }

  /**
   * A row that is being stored as about to leave: it has its turn, and leaves when `stored` says that it was. False when
   * it would have to wait; then it must be stored and submitted like any other.
   */
  depart(row: OpenOutboxRow, leaving: Leaving, listener: Listener): boolean {
    const { instance, id, chat } = row
    const { sessionOf, pace } = this.#deps
    const { lanes, gates } = this.#queueOf(instance)
    if (!sessionOf(instance) || !lanes.isFree(chat) || gates.texts.isFull || !pace.turnAtOnce(instance)) return false
    this.#listeners.set(id, listener)
    lanes.push(chat, id)
    this.#leaving.set(id, { row, ...leaving })
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
    this.#listeners.delete(id)
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
    const { outbox, moves, clock, sessionOf } = this.#deps
    for (const instance of (await outbox.countPending()).keys()) {
      // A row that was stored while the connection went may have missed that it waits.
      if (!sessionOf(instance)) await moves.startWaiting(instance, clock.now())
      await this.#expireDue(instance)
    }
  }

  /** The instance is gone: nothing of it is sent any more. */
  async forget(instance: string): Promise<void> {
    await this.#queues.get(instance)?.lanes.close()
    this.#queues.delete(instance)
    await this.#failAll(await this.#deps.outbox.live(instance))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#queues.values()].map(({ lanes }) => lanes.close()))
  }

  /** Rows that are stored and in no line, as after a deletion of the instance that could not be finished. */
  async #takeUp(instance: string): Promise<void> {
    const { outbox, exists, isOpen } = this.#deps
    const rows = await outbox.live(instance)
    if (!exists(instance)) {
      if (!this.#queues.has(instance)) await this.#failAll(rows)
      return
    }
    const { lanes } = this.#queueOf(instance)
    for (const { id, chat } of rows) if (!isOpen(id) && lanes.push(chat, id)) lanes.start(chat)
  }

  #queueOf(instance: string): Queue {
    const known = this.#queues.get(instance)
    if (known) return known
    const { clock, sessionOf } = this.#deps
    const step = (id: string, signal: AbortSignal) => this.#step(instance, id, signal)
    const onResting = (ids: readonly string[]) => {
      for (const id of ids) this.#tell(id, { kind: 'waiting' })
    }
    const lanes = new InstanceLanes({ clock, step, onResting })
    const gates = { texts: new Gate(deliveriesAtOnce), files: new Gate(deliveriesAtOnce) }
    const queue = { lanes, gates, isReady: sessionOf(instance) !== undefined }
    this.#queues.set(instance, queue)
    return queue
  }

  async #follow(instance: string, { lanes }: Queue, isReady: boolean): Promise<void> {
    const { moves, clock, log } = this.#deps
    try {
      if (isReady) {
        await this.#expireDue(instance)
        await moves.stopWaiting(instance, clock.now())
        lanes.wake()
      } else await moves.startWaiting(instance, clock.now())
    } catch (err) {
      log.error({ err, instance }, 'the outbox could not follow a change of the connection')
    }
  }

  async #step(instance: string, id: string, signal: AbortSignal): Promise<StepOutcome> {
    const { clock, log } = this.#deps
    try {
      return await this.#advance(instance, id, signal)
    } catch (err) {
      log.error({ err, instance, queue_id: id }, 'a queued message could not be worked on, trying again')
      return { until: clock.now() + storagePauseMs }
    }
  }

  async #advance(instance: string, id: string, signal: AbortSignal): Promise<StepOutcome> {
    const leaving = this.#leaving.get(id)
    if (leaving) return this.#depart(leaving, signal)
    const { outbox, moves, pace, clock, sessionOf } = this.#deps
    const row = this.#fresh.get(id) ?? (await outbox.open(id))
    if (!row || (row.status !== 'pending' && row.status !== 'sending')) return 'done'
    if (!sessionOf(instance)) {
      if (row.expires_at === null) await moves.startWaiting(instance, clock.now())
      return 'woken'
    }
    // Storage failed in the middle of it: the frame may have left.
    if (row.status === 'sending') await moves.postpone(id, { ...row, reason: '', nextAttemptAt: 0, attempted: false })
    if (row.next_attempt_at > clock.now()) return { until: row.next_attempt_at }
    if (!(await pace.turn(instance, { drained: row.drained === 1 }, signal))) return 'woken'
    return this.#attempt(row, signal)
  }

  async #attempt(row: OpenOutboxRow, signal: AbortSignal): Promise<StepOutcome> {
    const { deliverer, sessionOf } = this.#deps
    const leave = await this.#queues.get(row.instance)?.gates[hasFiles(row) ? 'files' : 'texts'].enter(signal)
    if (!leave) return 'woken'
    try {
      const session = sessionOf(row.instance)
      if (!session) return 'woken'
      return await this.#conclude(row, await deliverer.deliver(row, session, signal), signal)
    } finally {
      leave()
    }
  }

  async #depart(
    { row, departure, stored }: Leaving & { row: OpenOutboxRow },
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    const { deliverer, moves, sessionOf } = this.#deps
    const { id, instance } = row
    this.#leaving.delete(id)
    const leave = await this.#queues.get(instance)?.gates.texts.enter(signal)
    try {
      if (!(await stored)) {
        this.#listeners.delete(id)
        return 'done'
      }
      const session = signal.aborted ? undefined : sessionOf(instance)
      if (session) return await this.#conclude(row, await deliverer.deliver(row, session, signal, departure), signal)
      await moves.unclaim(id)
    } finally {
      leave?.()
    }
    return this.#advance(instance, id, signal)
  }

  async #conclude(row: OpenOutboxRow, verdict: Verdict, signal: AbortSignal): Promise<StepOutcome> {
    const { log, clock, moves } = this.#deps
    const attempts = row.attempts + 1
    const line = { instance: row.instance, queue_id: row.id, attempts, ms: clock.now() - row.created_at }
    if (verdict.kind === 'moved') return 'done'
    if (verdict.kind === 'sent') {
      log.info({ ...line, outcome: 'sent' }, 'outgoing message')
      this.#tell(row.id, verdict)
      return 'done'
    }
    const { parts, reason } = verdict
    log.info({ ...line, outcome: verdict.kind, reason }, 'outgoing message')
    if (verdict.kind === 'failed') return this.#fail({ ...row, parts, attempts }, reason)
    if (attempts >= maxAttempts) return this.#fail({ ...row, parts, attempts }, failureReason(parts, reason))
    // Cut off by our own end: the next start need not wait.
    const until = clock.now() + (signal.aborted ? 0 : firstPauseMs * 2 ** (attempts - 1))
    await moves.postpone(row.id, { parts, reason, nextAttemptAt: until, attempted: !verdict.claimed })
    return signal.aborted || !this.#deps.sessionOf(row.instance) ? 'woken' : { until }
  }

  async #fail(row: OutboxRow & Partial<Pick<OpenOutboxRow, 'payload'>>, reason: string): Promise<StepOutcome> {
    const { moves, clock, ledger, reporter } = this.#deps
    const now = clock.now()
    if (await moves.fail(row, reason, now, ['pending', 'sending'], reporter.due(now))) {
      for (const part of row.parts.length > 0 ? row.parts : [undefined]) {
        if (part?.state !== 'sent') ledger.lost(row, row.remote_jid, kindOf(row, part?.of))
      }
      this.#tell(row.id, { kind: 'failed', reason })
    } else this.#tell(row.id, { kind: 'cancelled' })
    return 'done'
  }

  async #failAll(rows: readonly LiveRow[]): Promise<void> {
    for (const { id } of rows) {
      const row = await this.#deps.outbox.open(id)
      if (row) await this.#fail(row, instanceDeleted)
    }
  }

  async #expireDue(instance: string): Promise<void> {
    const { moves, outbox, clock, ledger, reporter } = this.#deps
    const now = clock.now()
    for (const row of await moves.due(instance, now)) {
      const payload = (await outbox.open(row.id))?.payload
      const reason = failureReason(row.parts, timeOver)
      if (row.unconfirmed === 1) await this.#fail({ ...row, ...(payload && { payload }) }, reason)
      else if (await moves.expire(row, reason, now)) {
        if (payload?.type === 'message') ledger.expired(row, payload.content)
        reporter.due(now)
        this.#tell(row.id, { kind: 'failed', reason })
      }
      this.drop(row)
    }
  }

  #tell(id: string, fate: RowFate): void {
    this.#listeners.get(id)?.(fate)
    if (fate.kind !== 'waiting') this.#listeners.delete(id)
  }
}

function hasFiles({ payload }: OpenOutboxRow): boolean {
  return payload.type === 'message' && payload.attachments.length > 0
}

function kindOf(
  row: Partial<Pick<OpenOutboxRow, 'payload'>>,
  of: string | number | undefined,
): 'text' | 'media' | 'revoke' {
  if (row.payload?.type === 'revoke') return 'revoke'
  return typeof of === 'number' || (row.payload?.attachments.length ?? 0) > 0 ? 'media' : 'text'
}
