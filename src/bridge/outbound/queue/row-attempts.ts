// What happens to a row of the outbox when it is its turn: it is tried once, or it is said what it has to wait for.

import type { NetworkSession } from '../../../core/network.ts'
import type { Pace } from '../../../guard/pace.ts'
import type { Clock } from '../../../lib/clock.ts'
import { Semaphore } from '../../../lib/semaphore.ts'
import type { Log } from '../../../lib/log.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { OpenOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { RowSender, SendOutcome } from '../send/row-sender.ts'
import type { PreparedSend } from '../send/immediate-send.ts'
import { failureReason } from '../send/failure-reason.ts'
import type { StepOutcome } from './chat-queues.ts'
import type { RowOutcomes } from './row-outcomes.ts'

// The network side of one account works through its sends one by one; more at once only holds files open. Files have places
// of their own: fetched from a slow helpdesk or taken by a slow media host, they would keep every text waiting.
const deliveriesAtOnce = 8
const maxAttempts = 5
const firstPauseMs = 5000
const storagePauseMs = 5000

/** The places of one account. */
export type SendSlots = { texts: Semaphore; files: Semaphore }

export type AttemptDeps = {
  outbox: Pick<OutboxStore, 'open'>
  transitions: Pick<OutboxTransitions, 'startWaiting' | 'postpone' | 'unclaim'>
  sender: RowSender
  pace: Pace
  outcomes: RowOutcomes
  /** Only while the account can send. */
  sessionOf: (instance: string) => NetworkSession | undefined
  clock: Clock
  log: Log
}

export type Turn = { instance: string; id: string; gates: SendSlots; signal: AbortSignal }

export function sendSlots(): SendSlots {
  return { texts: new Semaphore(deliveriesAtOnce), files: new Semaphore(deliveriesAtOnce) }
}

export class RowAttempts {
  readonly #deps: AttemptDeps
  readonly #fresh = new Map<string, OpenOutboxRow>()
  readonly #leaving = new Map<string, PreparedSend & { row: OpenOutboxRow }>()

  constructor(deps: AttemptDeps) {
    this.#deps = deps
  }

  /** The turn that `start` begins finds the row as it was just stored. Before a later one it may have been changed. */
  withFresh(row: OpenOutboxRow, start: () => void): void {
    this.#fresh.set(row.id, row)
    start()
    this.#fresh.delete(row.id)
  }

  /** The next turn of this row is its departure. */
  expectDeparture(row: OpenOutboxRow, leaving: PreparedSend): void {
    this.#leaving.set(row.id, { row, ...leaving })
  }

  async take(turn: Turn): Promise<StepOutcome> {
    const { clock, log } = this.#deps
    const { instance, id } = turn
    try {
      const leaving = this.#leaving.get(id)
      return await (leaving ? this.#depart(leaving, turn) : this.#advance(turn))
    } catch (err) {
      log.error({ err, instance, queue_id: id }, 'a queued message could not be worked on, trying again')
      return { until: clock.now() + storagePauseMs }
    }
  }

  async #advance(turn: Turn): Promise<StepOutcome> {
    const { outbox, transitions, pace, clock, sessionOf } = this.#deps
    const { instance, id, signal } = turn
    const row = this.#fresh.get(id) ?? (await outbox.open(id))
    if (!row || (row.status !== 'pending' && row.status !== 'sending')) return 'done'
    if (!sessionOf(instance)) {
      if (row.expires_at === null) await transitions.startWaiting(instance, clock.now())
      return 'woken'
    }
    // Storage failed in the middle of it: the frame may have left.
    if (row.status === 'sending')
      await transitions.postpone(id, { ...row, reason: '', nextAttemptAt: 0, attempted: false })
    if (row.next_attempt_at > clock.now()) return { until: row.next_attempt_at }
    if (!(await pace.acquire(instance, { drained: row.drained === 1 }, signal))) return 'woken'
    return this.#attempt(row, turn)
  }

  async #attempt(row: OpenOutboxRow, { gates, signal }: Turn): Promise<StepOutcome> {
    const { sender, sessionOf } = this.#deps
    const leave = await gates[hasFiles(row) ? 'files' : 'texts'].enter(signal)
    try {
      const session = sessionOf(row.instance)
      if (!session) return 'woken'
      return await this.#conclude(row, await sender.send(row, session, signal), signal)
    } finally {
      leave()
    }
  }

  async #depart({ row, ...leaving }: PreparedSend & { row: OpenOutboxRow }, turn: Turn): Promise<StepOutcome> {
    const { sender, transitions, sessionOf, outcomes } = this.#deps
    const { gates, signal } = turn
    this.#leaving.delete(row.id)
    const leave = await gates.texts.enter(signal)
    try {
      const session = signal.aborted ? undefined : sessionOf(row.instance)
      // While it is being stored, so that its keys are written with it.
      const verdict = session && (await sender.send(row, session, signal, leaving))
      if (!(await leaving.stored)) {
        outcomes.stopListening(row.id)
        return 'done'
      }
      // One whose connection was lost meanwhile waits like any other.
      const isLost = verdict !== undefined && isUnsent(verdict) && sessionOf(row.instance) === undefined
      if (verdict && !isLost) return await this.#conclude(row, verdict, signal)
      await transitions.unclaim(row.id)
    } finally {
      leave()
    }
    return this.#advance(turn)
  }

  async #conclude(row: OpenOutboxRow, verdict: SendOutcome, signal: AbortSignal): Promise<StepOutcome> {
    const { log, clock, transitions, outcomes, sessionOf } = this.#deps
    const attempts = row.attempts + 1
    const line = { instance: row.instance, queue_id: row.id, attempts, ms: clock.now() - row.created_at }
    if (verdict.kind === 'moved') return 'done'
    if (verdict.kind === 'sent') {
      log.info({ ...line, outcome: 'sent' }, 'outgoing message')
      outcomes.notify(row.id, verdict)
      return 'done'
    }
    const { parts, reason } = verdict
    // Reasons of files name them, which is for the agent only.
    const why = hasFiles(row) ? { parts: parts.map(({ state }) => state) } : { reason }
    log.info({ ...line, outcome: verdict.kind, ...why }, 'outgoing message')
    if (verdict.kind === 'failed' || attempts >= maxAttempts) {
      await outcomes.fail(
        { ...row, parts, attempts },
        verdict.kind === 'failed' ? reason : failureReason(parts, reason),
      )
      return 'done'
    }
    // Cut off by our own end: the next start need not wait.
    const until = clock.now() + (signal.aborted ? 0 : firstPauseMs * 2 ** (attempts - 1))
    await transitions.postpone(row.id, { parts, reason, nextAttemptAt: until, attempted: !verdict.claimed })
    return signal.aborted || !sessionOf(row.instance) ? 'woken' : { until }
  }
}

function isUnsent(verdict: SendOutcome): boolean {
  return verdict.kind === 'retry' && verdict.parts.every(({ state }) => state === 'new')
}

function hasFiles({ payload }: OpenOutboxRow): boolean {
  return payload.type === 'message' && payload.attachments.length > 0
}
