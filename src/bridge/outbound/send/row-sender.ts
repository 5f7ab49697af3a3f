// Sends the parts of an outbox row. Every attempt goes through here: the immediate one, those from the queue and the repeats.
//
// Before the frame of a part leaves, a commit stores the id of the part and that it may have left. (For an immediate send
// that is the commit that accepts the row.) The commit that stores the acknowledgement also stores what SentRecords says. So after
// a crash each part is known to be unsent or sent, or it is repeated under the same id, and the recipient shows it once.

import { SendError } from '../../../core/network.ts'
import type { ChatId, InstanceName, Jid } from '../../../core/ids.ts'
import type { NetworkSession, Sent } from '../../../core/network.ts'
import type { OutgoingContent } from '../../../core/network/outgoing-content.ts'
import type { OutboxPart, PartState } from '../../../core/outbox.ts'
import type { Traces } from '../../../core/trace/traces.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import type { Pace } from '../../../guard/pace.ts'
import type { Restrictions } from '../../../guard/restrictions.ts'
import { orAbort } from '../../../lib/abort.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withDeadline } from '../../../lib/clock.ts'
import { ignoreRejection } from '../../../lib/ignore.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { OpenOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { MessageDraft, PartContent } from '../compose/message-composer.ts'
import type { SendWhenStored } from './immediate-send.ts'
import { failureReason, unconfirmed } from './failure-reason.ts'
import type { OutboundMetrics, PartKind } from './outbound-metrics.ts'
import type { SentRecords } from './sent-records.ts'
import { restrictedNow } from './send-preparation.ts'
import type { SendPreparation } from './send-preparation.ts'
import { SendRefusal } from '../compose/send-refusal.ts'

/** The network does not let the account write to this person first. */
export const firstMessageCode = 463
// Long enough to upload large files. The session itself gives up on a missing acknowledgement much earlier.
const sendDeadlineMs = 5 * 60_000

export type SendOutcome =
  /** With `storing` the acknowledgement is being stored. */
  | { kind: 'sent'; waid: string; storing?: Promise<void> }
  | { kind: 'retry'; reason: string; parts: OutboxPart[]; claimed: boolean }
  | { kind: 'failed'; reason: string; parts: OutboxPart[] }
  /** The row has left the states in which it may be sent: it expired, was cancelled or deleted. */
  | { kind: 'moved' }

/** Where a test may stop the process: between two steps that are not one commit. */
export type SendStep = 'accepted' | 'composed' | 'claimed' | 'acknowledged' | 'part_saved' | 'sent'

type Deps = {
  preparation: Pick<SendPreparation, 'prepare'>
  transitions: Pick<OutboxTransitions, 'claim' | 'saveParts' | 'markSent' | 'sharesCommits'>
  records: Pick<SentRecords, 'of'>
  restrictions: Pick<Restrictions, 'record'>
  metrics: Pick<OutboundMetrics, 'acknowledged' | 'strike'>
  pace: Pick<Pace, 'acquire'>
  traces: Pick<Traces, 'within'>
  clock: Clock
  onStep: (step: SendStep) => Promise<void>
}

type Attempt = {
  row: OpenOutboxRow
  session: NetworkSession
  address: Jid
  chatId: ChatId
  isFirst: boolean
  draft: MessageDraft
  signal: AbortSignal
}

type Progress = {
  parts: OutboxPart[]
  /** This attempt has claimed the row. */
  claimed: boolean
  /** Of an immediate send: the commit that stores the row claims its first part, which leaves after that commit. */
  stored: Promise<void> | undefined
  /** Of an immediate send: the commit that stores the acknowledgement. */
  storing?: Promise<void>
  current?: CurrentPart
}
/** The part that is being sent, its state before, and whether the session has been asked to send it. */
type CurrentPart = { part: OutboxPart; before: PartState; handedOver: boolean }

type SentPiece = Pick<PartContent, 'content' | 'text'> & { sent: Sent }

export class RowSender {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** An immediate send is prepared already. Its row is stored and claimed meanwhile; if that fails, nothing is sent. */
  async send(
    row: OpenOutboxRow,
    session: NetworkSession,
    signal: AbortSignal,
    immediate?: SendWhenStored,
  ): Promise<SendOutcome> {
    const parts = (immediate?.prepared ?? row).parts.map((part) => ({ ...part }))
    const stored = immediate && this.#afterStoring(immediate)
    stored?.catch(ignoreRejection)
    const progress: Progress = { parts, claimed: immediate !== undefined, stored }
    try {
      const prepared = immediate?.prepared ?? (await this.#deps.preparation.prepare(row, session))
      const { address, chatId, isFirst, draft } = prepared
      if (progress.parts.length === 0) {
        progress.parts = draft.plan.map((of) => ({ id: session.newMessageId(), of, state: 'new' as const }))
      }
      for (const part of progress.parts) if (part.id === '') part.id = session.newMessageId()
      const attempt = { row, session, address, chatId, isFirst, draft, signal }
      return await (progress.parts.length > 0 ? this.#sendAll(attempt, progress) : this.#finish(attempt, progress))
    } catch (error) {
      return this.#explain(error, progress)
    }
  }

  /** A revoke without parts: nothing ever left that could be taken back. */
  async #finish(attempt: Attempt, progress: Progress): Promise<SendOutcome> {
    if (!(await this.#commit(attempt, progress))) return { kind: 'moved' }
    await this.#deps.transitions.markSent(attempt.row, [], this.#deps.clock.now(), [])
    return { kind: 'sent', waid: '' }
  }

  /** A refused part does not stop the others, except when the account may not write to this person at all. */
  async #sendAll(attempt: Attempt, progress: Progress): Promise<SendOutcome> {
    const { parts } = progress
    // The list can grow during the loop: a text that cannot be a caption becomes a part of its own.
    for (const part of parts) {
      if (part.state === 'sent' || part.state === 'refused') continue
      // The attempt has acquired the pace for its first part.
      if (progress.current) await this.#acquirePace(attempt)
      progress.current = { part, before: part.state, handedOver: false }
      try {
        if (!(await this.#sendPart(attempt, progress, part))) return { kind: 'moved' }
      } catch (error) {
        if (!isRefusal(error)) throw error
        const isFirstMessage = isOfFirstMessage(error)
        const reason = isFirstMessage ? await this.#explainFirst(attempt.row.instance, error) : error.message
        refuse(progress.current, reason)
        if (isFirstMessage) return { kind: 'failed', reason: failureReason(parts, reason), parts }
      }
    }
    const { storing } = progress
    if (parts.every(({ state }) => state === 'sent'))
      return { kind: 'sent', waid: parts[0]?.id ?? '', ...(storing && { storing }) }
    return { kind: 'failed', reason: failureReason(parts, unconfirmed), parts }
  }

  async #acquirePace({ row, signal }: Attempt): Promise<void> {
    const isAcquired = await this.#deps.pace.acquire(row.instance, { isDrained: row.isDrained }, signal)
    if (!isAcquired) throw new SendError('not_sent', writeReason('closedBeforeAll'))
  }

  /** False when the row may no longer be sent. */
  async #sendPart(attempt: Attempt, progress: Progress, part: OutboxPart): Promise<boolean> {
    const { session, draft, signal } = attempt
    const { parts } = progress
    await using piece = await draft.contentOf(part.of, signal)
    if (piece.leftOver && !parts.some(({ of }) => of === 'text')) {
      parts.push({ id: session.newMessageId(), of: 'text', state: 'new' })
    }
    const { stored } = progress
    progress.stored = undefined
    // The answer to the callback does not wait for this commit (decision 048).
    const mayWait = stored !== undefined && parts.length === 1 && this.#deps.transitions.sharesCommits
    part.state = 'unknown'
    if (!stored && !(await this.#claim(attempt, progress))) return false
    if (progress.current) progress.current.handedOver = true
    const sent = await this.#send(attempt, part, piece.content, stored)
    await this.#deps.onStep('acknowledged')
    const saving = this.#save(attempt, parts, part, { ...piece, sent }, mayWait)
    if (!mayWait) await saving
    else {
      saving.catch(ignoreRejection)
      progress.storing = saving
      part.state = 'sent'
    }
    return true
  }

  async #afterStoring({ stored }: SendWhenStored): Promise<void> {
    if (!(await stored)) throw new SendError('not_sent', writeReason('unaccepted'))
    await this.#deps.onStep('composed')
    await this.#deps.onStep('claimed')
  }

  async #claim(attempt: Attempt, progress: Progress): Promise<boolean> {
    await this.#deps.onStep('composed')
    const isClaimed = await this.#commit(attempt, progress)
    if (isClaimed) await this.#deps.onStep('claimed')
    return isClaimed
  }

  /** After this commit the current part may leave. False when the row may no longer be sent. */
  async #commit({ row, address }: Attempt, progress: Progress): Promise<boolean> {
    const { transitions, clock } = this.#deps
    if (progress.claimed) return transitions.saveParts(row.instance, row.id, progress.parts)
    progress.claimed = await transitions.claim(row.instance, row.id, clock.now(), progress.parts, address)
    return progress.claimed
  }

  async #send(
    { session, address, isFirst, signal }: Attempt,
    part: OutboxPart,
    content: OutgoingContent,
    stored: Promise<void> | undefined,
  ): Promise<Sent> {
    if (signal.aborted) throw new SendError('not_sent', writeReason('closedBefore'))
    const late = () => new SendError('unknown', writeReason('unacknowledgedInTime'))
    const closed = () => new SendError('unknown', writeReason('closedMeanwhile'))
    const sending = session.send(address, content, part.id, { after: stored, isFirst })
    sending.catch(ignoreRejection)
    // When the row was not stored, the session may take its time: this attempt ends at once.
    const sent = stored ? stored.then(() => sending) : sending
    const { traces, clock } = this.#deps
    return await traces.within('network send', { content: content.type }, () =>
      withDeadline(clock, sendDeadlineMs, orAbort(sent, signal, closed), late),
    )
  }

  async #save(
    attempt: Attempt,
    parts: OutboxPart[],
    part: OutboxPart,
    piece: SentPiece,
    mayWait: boolean,
  ): Promise<void> {
    const { transitions, records, clock, onStep, metrics } = this.#deps
    const { row, address, chatId } = attempt
    const after = parts.map((each) => (each === part ? { ...part, state: 'sent' as const } : each))
    const { steps, over } = records.of({ row, part, address, chatId, ...piece })
    const isLast = after.every(({ state }) => state === 'sent')
    try {
      if (isLast) await transitions.markSent(row, after, clock.now(), steps, mayWait)
      else await transitions.saveParts(row.instance, row.id, after, steps)
    } finally {
      over()
    }
    // Only after the commit: a part whose acknowledgement could not be stored is repeated under the same id.
    part.state = 'sent'
    await onStep(isLast ? 'sent' : 'part_saved')
    metrics.acknowledged(row, address, kindOf(piece.content))
  }

  #explain(error: unknown, { parts, claimed, current }: Progress): SendOutcome {
    // A refusal outside of a part concerns the whole row.
    if (isRefusal(error)) return { kind: 'failed', reason: failureReason(parts, error.message), parts }
    const outcome = error instanceof SendError ? error.outcome : 'unknown'
    const mayHaveLeft = current?.handedOver === true && outcome === 'unknown'
    // A part that an earlier attempt left in doubt stays in doubt.
    if (current && !mayHaveLeft && current.part.state === 'unknown') current.part.state = current.before
    return { kind: 'retry', reason: reasonOf(error, mayHaveLeft), parts, claimed }
  }

  /** The network refused a first message. The network also says whether the account is restricted. */
  async #explainFirst(instance: InstanceName, error: Refusal): Promise<string> {
    const { restrictions, metrics } = this.#deps
    const meaning = await restrictions.record(instance)
    if (meaning === 'strike') metrics.strike(instance, firstMessageCode, restrictedNow)
    return meaning === 'not_restricted' ? error.message : restrictedNow
  }
}

/** Errors of storage or of our own code do not say what became of a message that may have left. */
function reasonOf(error: unknown, mayHaveLeft: boolean): string {
  if (error instanceof SendError) return error.message
  if (mayHaveLeft) return unconfirmed
  return writeReason('unsent', { reason: error instanceof Error ? error.message : String(error) })
}

type Refusal = SendRefusal | SendError

function isRefusal(error: unknown): error is Refusal {
  return error instanceof SendRefusal || (error instanceof SendError && error.outcome === 'refused')
}

function isOfFirstMessage(error: Refusal): boolean {
  return error instanceof SendError && error.code === firstMessageCode
}

/** A part that an earlier attempt left in doubt stays in doubt: it may have arrived although its repeat is refused. */
function refuse({ part, before }: CurrentPart, reason: string): void {
  part.state = before === 'unknown' ? 'unknown' : 'refused'
  if (part.state === 'refused') part.refusal = reason
}

function kindOf({ type }: OutgoingContent): PartKind {
  if (type === 'file') return 'media'
  return type === 'reaction' || type === 'edit' || type === 'revoke' ? type : 'text'
}
