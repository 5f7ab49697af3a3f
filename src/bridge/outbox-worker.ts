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
import type { FailureReporter } from './failure-reporter.ts'
import { InstanceLanes } from './instance-lanes.ts'
import type { StepOutcome } from './instance-lanes.ts'
import type { OutboundLedger } from './outbound-ledger.ts'

// The network side of one account works through its sends one by one; more at once only holds files open.
const deliveriesAtOnce = 8
const maxAttempts = 5
const firstPauseMs = 5000
const storagePauseMs = 5000
const unconfirmed = 'delivery could not be confirmed: look on the phone before you send it again'
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
  clock: Clock
  log: Log
}

type Listener = (fate: RowFate) => void
type Queue = { lanes: InstanceLanes; gate: Gate; isReady: boolean }

export class OutboxWorker {
  readonly #deps: Deps
  readonly #queues = new Map<string, Queue>()
  readonly #listeners = new Map<string, Listener>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Takes up what earlier processes have accepted. */
  async load(exists: (instance: string) => boolean): Promise<void> {
    const { outbox, moves, clock } = this.#deps
    await moves.recover()
    const rows = await outbox.live()
    for (const instance of new Set(rows.map((row) => row.instance))) {
      if (exists(instance)) await moves.startWaiting(instance, clock.now())
      else await this.#failAll(rows.filter((row) => row.instance === instance))
    }
    for (const { instance, chat, id } of rows) if (exists(instance)) this.#queueOf(instance).lanes.push(chat, id)
    for (const instance of this.#queues.keys()) this.connectionChanged(instance)
  }

  /** A row that was just stored; the listener hears what becomes of it, more than once if it has to wait. */
  submit({ id, instance, chat }: LiveRow, listener?: Listener): void {
    if (listener) this.#listeners.set(id, listener)
    const { lanes } = this.#queueOf(instance)
    lanes.push(chat, id)
    lanes.start(chat)
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

  /** Every line of every connected account looks again: what a missed signal would leave behind. */
  drain(): Promise<void> {
    for (const [instance, { lanes, isReady }] of this.#queues) {
      if (lanes.size === 0 && !isReady) this.#queues.delete(instance)
      else if (this.#deps.sessionOf(instance)) lanes.wake()
      this.connectionChanged(instance)
    }
    return Promise.resolve()
  }

  async expire(): Promise<void> {
    const { moves, clock, sessionOf } = this.#deps
    for (const [instance, { lanes }] of [...this.#queues]) {
      // A row that was stored while the connection went may have missed that it waits.
      if (lanes.size > 0 && !sessionOf(instance)) await moves.startWaiting(instance, clock.now())
      await this.#expireDue(instance)
    }
  }

  /** The instance is gone: nothing of it is sent any more. */
  async forget(instance: string): Promise<void> {
    const queue = this.#queues.get(instance)
    this.#queues.delete(instance)
    await queue?.lanes.close()
    await this.#failAll(await this.#deps.outbox.live(instance))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#queues.values()].map(({ lanes }) => lanes.close()))
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
    const queue = { lanes, gate: new Gate(deliveriesAtOnce), isReady: sessionOf(instance) !== undefined }
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
    const { outbox, moves, pace, clock, sessionOf } = this.#deps
    const row = await outbox.open(id)
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
    const leave = await this.#queues.get(row.instance)?.gate.enter(signal)
    if (!leave) return 'woken'
    try {
      const session = sessionOf(row.instance)
      if (!session) return 'woken'
      return await this.#conclude(row, await deliverer.deliver(row, session, signal), signal)
    } finally {
      leave()
    }
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
    const isDoubtful = parts.some(({ state }) => state === 'unknown')
    if (attempts >= maxAttempts) return this.#fail({ ...row, parts, attempts }, isDoubtful ? unconfirmed : reason)
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
      if (row.unconfirmed === 1) await this.#fail({ ...row, ...(payload && { payload }) }, unconfirmed)
      else if (await moves.expire(row, timeOver, now)) {
        if (payload?.type === 'message') ledger.expired(row, payload.content)
        reporter.due(now)
        this.#tell(row.id, { kind: 'failed', reason: timeOver })
      }
    }
  }

  #tell(id: string, fate: RowFate): void {
    this.#listeners.get(id)?.(fate)
    if (fate.kind !== 'waiting') this.#listeners.delete(id)
  }
}

function kindOf(
  row: Partial<Pick<OpenOutboxRow, 'payload'>>,
  of: string | number | undefined,
): 'text' | 'media' | 'revoke' {
  if (row.payload?.type === 'revoke') return 'revoke'
  return typeof of === 'number' || (row.payload?.attachments.length ?? 0) > 0 ? 'media' : 'text'
}
