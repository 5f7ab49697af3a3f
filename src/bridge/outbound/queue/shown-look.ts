// One look at what the helpdesk shows of a message, and what follows from it: a status is set, the message is sent again, or
// nothing.

import type { SettingsOf } from '../../../core/chosen-settings.ts'
import { DownstreamError } from '../../../core/downstream.ts'
import type { DownstreamFailure, HelpdeskInbox } from '../../../core/downstream.ts'
import type { MessageStatus } from '../../../core/helpdesk/message.ts'
import type { DestinationKey, InstanceName, RowId } from '../../../core/ids.ts'
import { knownOf, waitingLifetimeMs } from '../../../core/outbox.ts'
import type { OutboxPart } from '../../../core/outbox.ts'
import { dutyOf, keptOf, seenAs, shownAfter } from '../../../core/shown.ts'
import type { Known, Seen, Shown } from '../../../core/shown.ts'
import { translateReason, writeReason } from '../../../core/reasons/reason.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { isAskedFor, lacksCallback } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { RetryStore } from '../../../storage/stores/messages/retry-store.ts'
import type { ShownStore } from '../../../storage/stores/messages/shown-store.ts'
import type { SendingAccounts } from '../send/sending-accounts.ts'
import type { OutboxWorker } from './outbox-worker.ts'

const askAgainMs = 5000
const tryAgainMs = 30_000
const giveUpMs = 24 * 3_600_000
// A callback of our own change that fails makes the helpdesk show a failure again.
const lookAgainMs = 10_000
const tooLate = writeReason('unansweredRetry')
const deleted = writeReason('instanceDeleted')
const createdAnew = writeReason('instanceCreatedAnew')
const imported = writeReason('historyImported')
const longestReason = 2000
const hopeless: ReadonlySet<DownstreamFailure> = new Set(['permanent', 'unexplained', 'gone'])

type Deps = {
  outbox: Pick<OutboxStore, 'find' | 'open' | 'ofMessage'>
  shown: Pick<ShownStore, 'planLook' | 'saveLook' | 'reportedOf'>
  retries: Pick<RetryStore, 'retry' | 'discard' | 'isUnderImport'>
  settingsOf: SettingsOf
  /** The helpdesk inbox that has the message of a row. */
  helpdeskOf: (row: OutboxRow) => Promise<{ key: DestinationKey; helpdesk: HelpdeskInbox } | null>
  worker: Pick<OutboxWorker, 'submit'>
  accounts: Pick<SendingAccounts, 'isReady' | 'recordOf'>
  clock: Clock
  log: Log
}

/** The message of a row at the helpdesk. */
type Target = { key: DestinationKey; helpdesk: HelpdeskInbox; conversationId: number; messageId: number }

export class ShownLook {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Does nothing when the look is not due any more. */
  async lookIfDue(id: RowId): Promise<void> {
    const { outbox, clock } = this.#deps
    const row = await outbox.find(id)
    if (!row || row.lookAt === null || row.lookAt > clock.now()) return
    const target = await this.#ask(row, () => this.#targetOf(row))
    if (target === 'unanswered') return
    if (!target) return this.#endLooks(row)
    const { key, helpdesk, conversationId, messageId } = target
    const newest = await outbox.ofMessage(key, messageId)
    if (newest && newest.id !== id) return this.#handOver(row, newest)
    const found = await this.#ask(row, () => helpdesk.findMessage(conversationId, messageId))
    if (found === 'unanswered') return
    const status = found && !found.isDeleted ? found.status : null
    await this.#follow(row, target, seenAs(status, row.shown, isAskedFor(row)))
  }

  async #targetOf(row: OutboxRow): Promise<Target | undefined> {
    const { conversationId, messageId } = row
    if (conversationId === null || messageId === null) return undefined
    const found = await this.#deps.helpdeskOf(row)
    if (!found) return undefined
    return { ...found, conversationId, messageId }
  }

  /** Another row has accepted the same message: that row decides what the helpdesk has to show. */
  async #handOver(row: OutboxRow, newest: OutboxRow): Promise<void> {
    const { shown, retries, clock } = this.#deps
    const isFailure = !lacksCallback(row) || row.expiresAt === null
    if (isFailure) await shown.planLook(newest.instance, newest.id, clock.now())
    if (lacksCallback(row)) await retries.discard(row.instance, row.id)
    else await this.#endLooks(row)
  }

  /** A helpdesk that does not answer is asked again later. */
  async #ask<Answer>(row: OutboxRow, question: () => Promise<Answer>): Promise<Answer | 'unanswered'> {
    try {
      return await question()
    } catch (err) {
      const failure = asDownstreamError(err)
      this.#deps.log.warn({ err, ...whichOf(row) }, 'the helpdesk could not be asked about a message')
      await this.#tryLater(row, row.shown, failure)
      return 'unanswered'
    }
  }

  async #follow(row: OutboxRow, target: Target, seen: Seen): Promise<void> {
    const { shown, retries } = this.#deps
    const duty = dutyOf(await this.#knownOf(row, target), seen)
    if (duty === 'send') return this.#sendAgain(row, target)
    if (lacksCallback(row)) return retries.discard(row.instance, row.id)
    switch (duty) {
      case 'set sent':
      case 'set delivered':
      case 'set read':
      case 'set failed':
        return this.#set(row, target, duty.slice('set '.length) as MessageStatus, seen)
      case 'none':
      case 'look':
        return seen === 'gone' ? this.#endLooks(row) : shown.saveLook(row, keptOf(seen), null)
    }
  }

  /** What the phones report of a sent message counts too: a failure that is repaired may be one of a message that was read. */
  async #knownOf({ status }: OutboxRow, { key, messageId }: Target): Promise<Known> {
    const known = knownOf(status)
    return known === 'sent' ? ((await this.#deps.shown.reportedOf(key, messageId)) ?? known) : known
  }

  async #set(row: OutboxRow, target: Target, status: MessageStatus, seen: Seen): Promise<void> {
    const { shown, log } = this.#deps
    const { helpdesk, conversationId, messageId } = target
    const before = seen === 'gone' ? row.shown : keptOf(seen)
    const reason = status === 'failed' ? this.#inWords(row) : undefined
    try {
      await helpdesk.setStatus(conversationId, messageId, status, reason)
      const asked = status === 'failed' ? await this.#askedMeanwhile(row) : undefined
      await shown.saveLook(row, shownAfter(status), this.#lookAgainAt(row))
      if (asked) await this.#undo(asked, target)
    } catch (err) {
      const failure = asDownstreamError(err)
      log.warn({ err, ...whichOf(row), status }, 'the status of a message could not be set at the helpdesk')
      if (hopeless.has(failure.failure)) return shown.saveLook(row, before, null)
      // A failure that was shown stays known: after it, `sent` at the helpdesk is a Retry.
      const isKnown = status === 'failed' && (before === 'failed' || !failure.mayHaveHappened)
      await this.#tryLater(row, isKnown ? before : 'unsure', failure)
    }
  }

  /** In the language of the agents. A longer reason contains foreign text, such as a file name. */
  #inWords({ instance, reason }: OutboxRow): string {
    const { locale } = this.#deps.settingsOf(instance)
    return translateReason((reason ?? tooLate).slice(0, longestReason), locale)
  }

  /**
   * The row, if the agent pressed Retry since we read the row: our change has then hidden the Retry. For a message with files
   * it is not certain: the helpdesk also says that such a message changed when it has read a recording.
   */
  async #askedMeanwhile({ id, lookAt }: OutboxRow): Promise<OutboxRow | undefined> {
    const row = await this.#deps.outbox.open(id)
    if (row?.payload.type !== 'message' || row.payload.attachments.length > 0) return undefined
    return row.lookAt !== lookAt && isAskedFor(row) && knownOf(row.status) === 'unsent' ? row : undefined
  }

  /** The message is sent again, and the helpdesk must no longer show the failure that we set. */
  async #undo(row: OutboxRow, target: Target): Promise<void> {
    const { shown, clock } = this.#deps
    await this.#sendAgain(row, target)
    await shown.planLook(row.instance, row.id, clock.now())
  }

  async #sendAgain(row: OutboxRow, target: Target): Promise<void> {
    const { retries, worker, clock } = this.#deps
    const obstacle = this.#obstacleOf(row)
    if (obstacle !== null) return this.#set({ ...row, reason: obstacle }, target, 'failed', 'retried')
    const isOver = row.expiresAt !== null && clock.now() > row.expiresAt
    const isAgain =
      !isOver && (await retries.retry(row, partsAgain(row.parts), this.#waiting(row.instance), clock.now()))
    if (isAgain) worker.submit(row)
    else if (!isOver && (await retries.isUnderImport(row, clock.now()))) {
      await this.#set({ ...row, reason: row.chatId === '' ? row.reason : imported }, target, 'failed', 'retried')
    }
    // The callback of the message has come after all.
    else if (lacksCallback(row) && !isOver) await retries.discard(row.instance, row.id)
    else await this.#set(row, target, 'failed', 'retried')
  }

  /** A row is only sent from the account that accepted it. */
  #obstacleOf({ instance, createdAt }: OutboxRow): string | null {
    const record = this.#deps.accounts.recordOf(instance)
    if (!record) return deleted
    return record.createdAt > createdAt ? createdAnew : null
  }

  async #tryLater(row: OutboxRow, shown: Shown, failure: DownstreamError): Promise<void> {
    const now = this.#deps.clock.now()
    if (now - beginningOf(row) > giveUpMs) return this.#endLooks(row)
    const pauseMs = isAskedFor(row) && now < (row.expiresAt ?? 0) ? askAgainMs : tryAgainMs
    await this.#deps.shown.saveLook(row, shown, now + Math.max(pauseMs, failure.retryAfterMs ?? 0))
  }

  /** After each change the pause doubles: a helpdesk that cannot reach us shows a failure after each of them. */
  #lookAgainAt(row: OutboxRow): number | null {
    const now = this.#deps.clock.now()
    const ageMs = now - beginningOf(row)
    return ageMs > giveUpMs ? null : now + Math.max(lookAgainMs, ageMs)
  }

  /**
   * The helpdesk cannot be asked, has no such message, or another row decides. If the helpdesk shows a failure, a Retry still
   * counts. The row must not stay unsure, because a look is planned at unsure rows.
   */
  async #endLooks(row: OutboxRow): Promise<void> {
    const guess = knownOf(row.status) === 'unsent' ? 'failed' : 'sent'
    await this.#deps.shown.saveLook(row, row.shown === 'unsure' ? guess : row.shown, null)
  }

  #waiting(instance: InstanceName) {
    const { accounts, clock } = this.#deps
    if (accounts.isReady(instance)) return { isWaiting: false, isDrained: false, expiresAt: null }
    return { isWaiting: true, isDrained: true, expiresAt: clock.now() + waitingLifetimeMs }
  }
}

/** A part that was not sent gets a new id. A part that may have arrived keeps its id, so that the recipient shows it once. */
function partsAgain(parts: readonly OutboxPart[]): OutboxPart[] {
  if (!parts.some(({ state }) => state === 'sent' || state === 'unknown')) return []
  return parts.map((part) =>
    part.state === 'sent' || part.state === 'unknown' ? part : { id: '', of: part.of, state: 'new' },
  )
}

function beginningOf({ settledAt, createdAt, expiresAt }: OutboxRow): number {
  return Math.max(settledAt ?? createdAt, expiresAt ?? 0)
}

function asDownstreamError(error: unknown): DownstreamError {
  if (error instanceof DownstreamError) return error
  throw error
}

function whichOf({ instance, id, messageId }: OutboxRow) {
  return { instance, queue_id: id, message_id: messageId }
}
