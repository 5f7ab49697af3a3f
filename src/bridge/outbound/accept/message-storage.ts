// Stores an accepted message and hands it to the worker. A prepared message is encrypted while its row is being stored.

import type { Destination } from '../../../core/downstream.ts'
import type { RowId } from '../../../core/ids.ts'
import { maxWaiting } from '../../../core/outbox.ts'
import { subjectOfRow } from '../../../core/trace/traces.ts'
import type { Traces } from '../../../core/trace/traces.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import type { Fingerprints } from '../../../guard/fingerprints.ts'
import type { Pace } from '../../../guard/pace.ts'
import type { SendLimit } from '../../../guard/send-limits.ts'
import type { SettledKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import { openedRow, wordsIn } from '../../../storage/stores/messages/outbox-rows.ts'
import type { FirstClaim, NewOutboxRow, OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { EnqueueIf, OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import { StorageError } from '../../../storage/engine/statement.ts'
import type { OutboxWorker } from '../queue/outbox-worker.ts'
import type { PlannedLooks } from '../queue/planned-looks.ts'
import type { OutcomeListener } from '../queue/row-outcomes.ts'
import { claimOf } from '../send/immediate-send.ts'
import type { PreparedSend } from '../send/immediate-send.ts'
import type { SendStep } from '../send/row-sender.ts'
import type { Deadline } from './answer-in-time.ts'
import type { LaterTurn } from './later-turn.ts'
import { noRecipient } from './commands.ts'
import { repeated } from './send-answer.ts'
import type { Seen, SendAnswer } from './send-answer.ts'
import type { UndecidedRows } from './undecided-rows.ts'

type Deps = {
  outbox: Pick<OutboxStore, 'enqueue' | 'enqueueIf' | 'keepRefused' | 'settledBy'>
  undecided: Pick<UndecidedRows, 'while' | 'reopen' | 'refuse'>
  worker: Pick<OutboxWorker, 'startPrepared' | 'submit'>
  looks: Pick<PlannedLooks, 'after'>
  pace: Pick<Pace, 'limitOf'>
  fingerprints: Pick<Fingerprints, 'matches'>
  onStep: (step: SendStep) => Promise<void>
  newId: () => RowId
  traces: Pick<Traces, 'note'>
}

export type Message = {
  row: NewOutboxRow
  /** The callback or the request that asks for the message. */
  key: SettledKey | null
  prepared: PreparedSend | undefined
  listener: OutcomeListener
  /** The message must not be sent before its turn. Undefined when it is its turn. */
  turn: LaterTurn | undefined
  destination: Destination | null
}

/** The context of the message is no longer true: nothing is stored. */
type Stale = 'stale'

type Enqueue<Result> = (claim: FirstClaim | undefined) => Promise<Result>

export class MessageStorage {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** 'accepted', or the answer to a message that is not accepted. */
  store(message: Message, deadline: Deadline): Promise<'accepted' | SendAnswer> {
    const { row, key } = message
    return this.#store<never>(message, deadline, (claim) => this.#deps.outbox.enqueue(row, key, claim))
  }

  /** Stores the message only while each of the conditions touches one row. Also says whether the conversation has unread messages. */
  async storeIf(
    when: EnqueueIf,
    message: Message,
    deadline: Deadline,
  ): Promise<{ stored: 'accepted' | SendAnswer | Stale } & Seen> {
    const { row, key } = message
    // A commit whose answer is lost does not tell. If there are none, looking for them costs one read.
    let hasUnread = true
    const stored = await this.#store<Stale>(message, deadline, async (claim) => {
      const enqueued = await this.#deps.outbox.enqueueIf(when, row, key, claim)
      if (enqueued.stored === 'accepted') hasUnread = enqueued.hasUnread
      // The refusal of a message is kept with its chat, which must be the right one.
      return enqueued.stored === 'full' ? 'stale' : enqueued.stored
    })
    return { stored, hasUnread }
  }

  #store<S extends Stale>(
    message: Message,
    deadline: Deadline,
    enqueue: Enqueue<'accepted' | 'full' | 'duplicate' | S>,
  ): Promise<'accepted' | SendAnswer | S> {
    const { row, turn } = message
    const stored = Promise.withResolvers<'accepted' | SendAnswer | S>()
    const storing = this.#deps.undecided.while(row.id, async () => {
      const result = await this.#storeNow(message, deadline, enqueue)
      stored.resolve(result)
      // Until then the worker must not find the row.
      if (turn && result === 'accepted') await turn.comes
    })
    storing.catch(stored.reject)
    return stored.promise
  }

  async #storeNow<S extends Stale>(
    message: Message,
    deadline: Deadline,
    enqueue: Enqueue<'accepted' | 'full' | 'duplicate' | S>,
  ): Promise<'accepted' | SendAnswer | S> {
    const { worker, onStep, traces } = this.#deps
    const { row, prepared, listener, turn } = message
    const stored = Promise.withResolvers<boolean>()
    const opened = openedRow(row)
    const acquired = prepared && worker.startPrepared(opened, { prepared, stored: stored.promise }, listener)
    let isAccepted = false
    try {
      const claim = acquired && claimOf(prepared)
      const refusal = await this.#commit(message, deadline, () => enqueue(claim))
      if (refusal !== undefined) return refusal
      isAccepted = true
      const facts = { instance: row.instance, direction: 'out', kind: row.kind } as const
      traces.note({ subject: subjectOfRow(row), name: 'accept', facts }, row.createdAt)
      await onStep('accepted')
      stored.resolve(true)
    } finally {
      if (!isAccepted) acquired?.giveBack()
      stored.resolve(false)
    }
    if (turn) {
      turn.whenItComes(() => {
        worker.submit(row, undefined, opened)
      })
    } else if (!acquired) worker.submit(row, listener, opened)
    return 'accepted'
  }

  /** Undefined when the message is stored and will be sent. */
  async #commit<S extends Stale>(
    message: Message,
    deadline: Deadline,
    enqueue: () => Promise<'accepted' | 'full' | 'duplicate' | S>,
    isAgain = false,
  ): Promise<SendAnswer | S | undefined> {
    const { row } = message
    const stored = await this.#enqueueSurely(message, deadline, enqueue)
    if (stored === 'full') return this.#keepFull(row)
    if (stored === 'duplicate') {
      const answer = await this.#answerRepeat(message, deadline)
      if (typeof answer === 'object') return answer
      if (!isAgain) return this.#commit(message, deadline, enqueue, true)
      return answer === 'withdrawn' ? { kind: 'late' } : { kind: 'ignored', reason: 'duplicate' }
    }
    if (stored !== 'accepted') return stored
    if (!deadline.isOver) return undefined
    // The helpdesk was told that the message failed, so it must not be sent.
    await this.#deps.undecided.refuse(row)
    return { kind: 'late' }
  }

  /** The answer to a callback or a request that was settled before, unless no row settles it, or none any more. */
  async #answerRepeat(message: Message, deadline: Deadline): Promise<SendAnswer | 'withdrawn' | 'no row'> {
    const { outbox, undecided } = this.#deps
    // The helpdesk was told that the message failed. What is stored of it stays as it is.
    if (deadline.isOver) return { kind: 'late' }
    const settled = message.key && (await outbox.settledBy(message.key))
    if (!settled) return 'no row'
    if (this.#isDoubtful(message, settled)) {
      return { kind: 'undeliverable', code: 'no_recipient', reason: noRecipient(message.destination) }
    }
    return (await undecided.reopen(settled)) ? 'withdrawn' : repeated(settled)
  }

  async #keepFull(row: NewOutboxRow): Promise<SendAnswer> {
    const { outbox, looks, newId, pace } = this.#deps
    const count = maxWaiting
    // A row that does not wait for the connection waits for its pace.
    const reason = row.isDrained ? writeReason('full', { count }) : fullByPace(pace.limitOf(row.instance), count)
    // No agent can ask for a direct message again.
    if (row.kind === 'direct') return { kind: 'full', reason }
    const id = newId()
    await looks.after(id, (lookAt) => outbox.keepRefused({ ...row, id }, { reason, lookAt }, null))
    return { kind: 'full', reason }
  }

  /** When the answer of the commit is lost, a second try tells whether the row is stored. */
  async #enqueueSurely<Result>(
    message: Message,
    deadline: Deadline,
    enqueue: () => Promise<Result>,
  ): Promise<Result | 'accepted' | 'duplicate'> {
    try {
      return await enqueue()
    } catch (error) {
      if (isUndone(error)) throw error
      const again = isUnanswered(error) && !deadline.isOver ? await this.#enqueueAgain(message, enqueue) : undefined
      if (again) return again
      // The commit may still be made, and the helpdesk is told that the message failed.
      await this.#deps.undecided.refuse(message.row)
      throw error
    }
  }

  /**
   * A callback or a request is settled once, so only one of the two commits can be made. Undefined when the second try does not
   * tell which.
   */
  async #enqueueAgain(
    { row, key }: Message,
    enqueue: () => Promise<unknown>,
  ): Promise<'accepted' | 'duplicate' | undefined> {
    if (key === null) return undefined
    try {
      const stored = await enqueue()
      if (stored === 'accepted') return 'accepted'
      if (stored !== 'duplicate') return undefined
      return (await this.#deps.outbox.settledBy(key))?.id === row.id ? 'accepted' : 'duplicate'
    } catch (error) {
      // The instance has left, so the first commit is decided. The next holder of the instance finds the row, if there is one.
      if (error instanceof NotHeldError) throw error
      return undefined
    }
  }

  /** Another Chatwoot may have taken the place of the helpdesk inbox, with the same message ids. */
  #isDoubtful({ row, destination }: Message, settled: OutboxRow): boolean {
    if (destination?.isUnidentified !== true) return false
    const { fingerprints } = this.#deps
    return settled.chatId !== row.chatId || !fingerprints.matches(settled.fingerprint, wordsIn(row))
  }
}

function isUnanswered(error: unknown): boolean {
  return error instanceof StorageError && error.failure === 'unavailable'
}

/** Nothing is stored, and nothing will be. */
function isUndone(error: unknown): boolean {
  return error instanceof NotHeldError || (error instanceof StorageError && error.failure !== 'unavailable')
}

function fullByPace({ perMinute: rate, warmup }: SendLimit, count: number): string {
  return warmup ? writeReason('fullByWarmup', { rate, ...warmup, count }) : writeReason('fullByRate', { rate, count })
}
