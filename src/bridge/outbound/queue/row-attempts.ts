// Makes one attempt to send an outbox row, or returns what the row must wait for.

import type { InstanceName, RowId } from '../../../core/ids.ts'
import type { NetworkSession } from '../../../core/network.ts'
import { hasFiles } from '../../../core/outbox.ts'
import { subjectOfRow } from '../../../core/trace/traces.ts'
import type { Traces } from '../../../core/trace/traces.ts'
import type { Pace } from '../../../guard/pace.ts'
import { doubledMs } from '../../../lib/backoff.ts'
import type { RowEnd, WorkOutcome } from '../../../lib/queues/chat-queues.ts'
import type { Clock } from '../../../lib/clock.ts'
import { Semaphore } from '../../../lib/queues/semaphore.ts'
import type { Log } from '../../../lib/log.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { OpenOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { RowSender, SendOutcome } from '../send/row-sender.ts'
import type { SendWhenStored } from '../send/immediate-send.ts'
import { failureReason } from '../send/failure-reason.ts'
import type { SendingAccounts } from '../send/sending-accounts.ts'
import type { RowOutcomes } from './row-outcomes.ts'

// The network side of one account works through its sends one by one. More sends at the same time would only keep files
// open. Files have slots of their own: a slow helpdesk or media host must not keep texts waiting.
const concurrentSends = 8
const maxAttempts = 5
const attemptPauses = { firstMs: 5000, ceilingMs: 40_000 }
const storagePauseMs = 5000

/** How many rows of one account are sent at the same time. */
export type SendSlots = { texts: Semaphore; files: Semaphore }

/** A row as it was just stored. With `immediate` the row is still being stored, as one that is about to leave. */
export type FreshRow = { row: OpenOutboxRow; immediate?: SendWhenStored }

type Deps = {
  outbox: Pick<OutboxStore, 'open'>
  transitions: Pick<OutboxTransitions, 'startWaiting' | 'postpone' | 'unclaim'>
  sender: Pick<RowSender, 'send'>
  pace: Pick<Pace, 'acquire'>
  outcomes: Pick<RowOutcomes, 'notify' | 'fail' | 'stopListening'>
  accounts: Pick<SendingAccounts, 'sessionOf' | 'readinessOf' | 'isHere'>
  traces: Pick<Traces, 'during'>
  clock: Clock
  log: Log
}

/** Without a fresh row the attempt reads the row. */
type Attempt = { instance: InstanceName; id: RowId; fresh: FreshRow | null; slots: SendSlots; signal: AbortSignal }

export function sendSlots(): SendSlots {
  return { texts: new Semaphore(concurrentSends), files: new Semaphore(concurrentSends) }
}

export class RowAttempts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async attempt(attempt: Attempt): Promise<WorkOutcome> {
    const { clock, log } = this.#deps
    const { instance, id, fresh } = attempt
    try {
      const { row, immediate } = fresh ?? {}
      if (row && immediate) return await this.#sendImmediately(row, immediate, attempt)
      return await this.#sendInTurn(row, attempt)
    } catch (err) {
      log.error({ err, instance, queue_id: id }, 'a queued message could not be worked on, trying again')
      return { until: clock.now() + storagePauseMs }
    }
  }

  async #sendInTurn(fresh: OpenOutboxRow | undefined, attempt: Attempt): Promise<WorkOutcome> {
    const { outbox, transitions, pace, clock, accounts } = this.#deps
    const { instance, id, signal } = attempt
    if (!accounts.isHere(instance)) return this.#leaveToOwner(id)
    const row = fresh ?? (await outbox.open(id))
    if (!row || (row.status !== 'pending' && row.status !== 'sending')) return 'done'
    if (!accounts.sessionOf(instance)) {
      if (row.expiresAt === null && accounts.readinessOf(instance) === 'away')
        await transitions.startWaiting(instance, clock.now())
      return 'wait'
    }
    // The last attempt ended because storage failed. Its frame may have left.
    if (row.status === 'sending')
      await transitions.postpone(instance, id, { ...row, reason: '', nextAttemptAt: 0, counted: 0 })
    const pauseMs = row.nextAttemptAt - clock.now()
    // A longer pause was stored before the clock was put back.
    if (pauseMs > 0 && pauseMs <= attemptPauses.ceilingMs) return { until: row.nextAttemptAt }
    if (!(await pace.acquire(instance, { isDrained: row.isDrained }, signal))) return 'wait'
    return this.#send(row, attempt)
  }

  /** The row was stored while the instance left. Its new owner sends it. */
  #leaveToOwner(id: RowId): WorkOutcome {
    this.#deps.outcomes.notify(id, { kind: 'waiting' })
    return 'done'
  }

  async #send(row: OpenOutboxRow, { slots, signal }: Attempt): Promise<WorkOutcome> {
    const { accounts } = this.#deps
    const leave = await slots[hasFiles(row.payload) ? 'files' : 'texts'].enter(signal)
    try {
      const session = accounts.sessionOf(row.instance)
      if (!session) return 'wait'
      return await this.#conclude(row, await this.#sendRow(row, session, signal), signal)
    } finally {
      leave()
    }
  }

  async #sendImmediately(row: OpenOutboxRow, immediate: SendWhenStored, attempt: Attempt): Promise<WorkOutcome> {
    const { transitions, accounts, outcomes } = this.#deps
    const { slots, signal } = attempt
    const leave = await slots.texts.enter(signal)
    try {
      const session = signal.aborted ? undefined : accounts.sessionOf(row.instance)
      // The message is encrypted while its row is stored, so that one commit can hold the row and the changed keys.
      const outcome = session && (await this.#sendRow(row, session, signal, immediate))
      if (!(await immediate.stored)) {
        outcomes.stopListening(row.id)
        return 'done'
      }
      // When the connection was lost before a frame left, the row waits like any other.
      const isLost = outcome !== undefined && isUnsent(outcome) && accounts.sessionOf(row.instance) === undefined
      if (outcome && !isLost) return await this.#conclude(row, outcome, signal)
      await transitions.unclaim(row.instance, row.id)
    } finally {
      leave()
    }
    return this.#sendInTurn(undefined, attempt)
  }

  #sendRow(
    row: OpenOutboxRow,
    session: NetworkSession,
    signal: AbortSignal,
    immediate?: SendWhenStored,
  ): Promise<SendOutcome> {
    const { sender, traces } = this.#deps
    const { instance, kind } = row
    const facts = { instance, direction: 'out', kind, attempt: row.attempts + 1 } as const
    return traces.during({ subject: subjectOfRow(row), name: 'send', facts }, async (known) => {
      const outcome = await sender.send(row, session, signal, immediate)
      known.outcome = outcome.kind
      return outcome
    })
  }

  async #conclude(row: OpenOutboxRow, outcome: SendOutcome, signal: AbortSignal): Promise<WorkOutcome> {
    const { log, clock, transitions, outcomes, accounts } = this.#deps
    const attempts = row.attempts + 1
    const line = { instance: row.instance, queue_id: row.id, attempts, ms: clock.now() - row.createdAt }
    if (outcome.kind === 'moved') return 'done'
    if (outcome.kind === 'sent') {
      log.info({ ...line, outcome: 'sent' }, 'outgoing message')
      outcomes.notify(row.id, outcome)
      return outcome.storing ? { ending: this.#ended(row, outcome.storing) } : 'done'
    }
    const { parts, reason } = outcome
    // A reason that concerns a file names the file. Only the agent may see that name.
    const why = hasFiles(row.payload) ? { parts: parts.map(({ state }) => state) } : { reason }
    log.info({ ...line, outcome: outcome.kind, ...why }, 'outgoing message')
    // This process ended the attempt, because it stops or the instance moves to another node. That does not count.
    const isOver = !signal.aborted && attempts >= maxAttempts
    if (outcome.kind === 'failed' || isOver) {
      const finalReason = outcome.kind === 'failed' ? reason : failureReason(parts, reason)
      await outcomes.fail({ ...row, parts, attempts }, finalReason)
      return 'done'
    }
    // After an attempt that this process ended, the next process need not wait.
    const until = clock.now() + (signal.aborted ? 0 : doubledMs(attempts - 1, attemptPauses))
    const counted = countOf(outcome.claimed, signal.aborted)
    await transitions.postpone(row.instance, row.id, { parts, reason, nextAttemptAt: until, counted })
    return signal.aborted || !accounts.sessionOf(row.instance) ? 'wait' : { until }
  }

  /** A message whose acknowledgement could not be stored is repeated under the same id. */
  async #ended({ instance, id }: OpenOutboxRow, storing: Promise<void>): Promise<RowEnd> {
    try {
      await storing
      return 'done'
    } catch (err) {
      this.#deps.log.error({ err, instance, queue_id: id }, 'that a message was sent could not be stored, trying again')
      return 'again'
    }
  }
}

/** What is to be added to the number of attempts: a claim has counted the attempt already. */
function countOf(isClaimed: boolean, isEndedByUs: boolean): -1 | 0 | 1 {
  if (isEndedByUs) return isClaimed ? -1 : 0
  return isClaimed ? 0 : 1
}

function isUnsent(outcome: SendOutcome): boolean {
  return outcome.kind === 'retry' && outcome.parts.every(({ state }) => state === 'new')
}
