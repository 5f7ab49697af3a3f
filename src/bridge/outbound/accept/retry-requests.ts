// Follows changes of messages at the helpdesk. The helpdesk only says that a message changed: it may have failed there, or the
// agent may have pressed Retry. So a look is planned, and `ShownWorker` asks the helpdesk what it shows.

import type { Destination } from '../../../core/downstream.ts'
import { knownOf, waitingLifetimeMs } from '../../../core/outbox.ts'
import type { DestinationKey } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import { lacksCallback } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { ChangedMessage, RetryStore } from '../../../storage/stores/messages/retry-store.ts'
import type { ShownStore } from '../../../storage/stores/messages/shown-store.ts'
import type { Route } from '../../conversations/route.ts'
import type { ChatRef } from '../send/recipients.ts'
import type { AnswerRoutes } from './answer-routes.ts'
import { callbackKey, noRecipient, nowhere, otherInbox, unsendable } from './commands.ts'
import type { ChangeCommand } from './commands.ts'
import type { MessageRows } from './message-rows.ts'
import type { FirstCallbacks } from './first-callbacks.ts'
import { importRefusal } from './import-refusal.ts'

// The helpdesk offers Retry for that long.
const retryOfferedMs = 24 * 3_600_000
// A change can overtake the callback of its message. That callback comes within this time.
const overtakenMs = 10_000

type Deps = {
  outbox: Pick<OutboxStore, 'ofMessage'>
  shown: Pick<ShownStore, 'planLook' | 'noteFailure' | 'ask'>
  retries: Pick<RetryStore, 'keepChange'>
  answers: Pick<AnswerRoutes, 'findRoute'>
  firstCallbacks: Pick<FirstCallbacks, 'of'>
  rows: Pick<MessageRows, 'create'>
  clock: Clock
  /** Starts the looks that are due. */
  wake: () => void
}

type Change = { route: Route & { destination: Destination }; command: ChangeCommand; receivedAt: number }

export class RetryRequests {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when the look is planned, or when the change does not matter. */
  async note(route: Route, command: ChangeCommand, receivedAt: number): Promise<void> {
    const { outbox, wake } = this.#deps
    const { destination } = route
    const isReachable = [null, destination?.accountId].includes(command.conversation.accountId)
    if (!destination || !isReachable || command.conversation.conversationId === null) return
    const row = await outbox.ofMessage(destination.key, command.messageId)
    const change = { route: { ...route, destination }, command, receivedAt }
    if (command.externalError !== null) await this.#noteFailure(change, row)
    else if (command.isTranslated || isOnItsWay(row)) return
    else if (row && row.chatId !== '') await this.#ask(row, receivedAt)
    else await this.#keepChange(change, row)
    wake()
  }

  /** A conversation shows the message as failed, and no callback may have told of it. */
  async noteShownFailure(destination: DestinationKey, messageId: number): Promise<void> {
    const { outbox, clock, wake } = this.#deps
    const row = await outbox.ofMessage(destination, messageId)
    // The failure is known: it is right, or the helpdesk does not let us change it.
    if (!row || lacksCallback(row) || row.lookAt !== null || ['failed', 'told'].includes(row.shown)) return
    await this.#noteRowFailure(row, clock.now())
    wake()
  }

  /** The helpdesk shows a failure. The callback of the message may be accepted in this moment, or later. */
  async #noteFailure(change: Change, row: OutboxRow | undefined): Promise<void> {
    const { retries, rows } = this.#deps
    const { route, command, receivedAt } = change
    if (row) await this.#noteRowFailure(row, receivedAt)
    else if (isOfOurInbox(change)) {
      const kept = rows.create({ ...route, ref: nowhere }, command)
      await retries.keepChange(
        { row: kept, callback: null, reason: null },
        { at: receivedAt + overtakenMs, until: null },
      )
    }
  }

  /** A row that will not be sent needs a look only if we do not know yet that its failure is shown. */
  async #noteRowFailure({ id, instance, status }: OutboxRow, at: number): Promise<void> {
    const { shown } = this.#deps
    if (knownOf(status) === 'unsent') await shown.noteFailure(instance, id, at)
    else await shown.planLook(instance, id, at)
  }

  async #ask(row: OutboxRow, receivedAt: number): Promise<void> {
    const at = lacksCallback(row) ? Math.max(receivedAt, awaitedUntil(row, receivedAt)) : receivedAt
    await this.#deps.shown.ask(row.instance, row.id, { at, until: at + waitingLifetimeMs })
  }

  /** A message that was never accepted was never sent: its callback was lost or refused. */
  async #keepChange(change: Change, refused: OutboxRow | undefined): Promise<void> {
    const { retries } = this.#deps
    const { route, command, receivedAt } = change
    const changed = (await this.#isForUs(change)) ? await this.#changedMessage(route, command) : undefined
    if (changed && (!refused || changed.reason === null)) {
      const isYoung = !refused && ageOf(change) < overtakenMs
      const at = receivedAt + (isYoung ? overtakenMs : 0)
      const until = at + waitingLifetimeMs
      const reason = changed.reason ?? refused?.reason ?? null
      await retries.keepChange({ ...changed, reason, ...(isYoung && { callback: null }) }, { at, until })
    } else if (refused) await this.#ask(refused, receivedAt)
  }

  /** Whether the message was written for us to send. Otherwise another system may have sent it. */
  async #isForUs(change: Change): Promise<boolean> {
    const { writtenAt, content, attachments } = change.command
    const isEmpty = content.trim() === '' && attachments.length === 0
    if (writtenAt === null || isEmpty || !isOfOurInbox(change)) return false
    return writtenAt >= (await this.#deps.firstCallbacks.of(change.route.destination.key))
  }

  async #changedMessage(route: Route, command: ChangeCommand): Promise<ChangedMessage> {
    const { answers, rows, clock } = this.#deps
    const { sender, destination, ref, importState } = await answers.findRoute(route, command)
    const rowTo = (to: Pick<ChatRef, 'chatId' | 'jid'>) => rows.create({ sender, destination, ref: to }, command)
    const refusal = unsendable(command) ?? importRefusal(command, importState, clock.now())
    const reason = refusal?.reason ?? (ref ? null : noRecipient(destination))
    if (!ref || reason !== null) return { row: rowTo(nowhere), callback: null, reason }
    return { row: rowTo(ref), callback: callbackKey(route, command.messageId), reason }
  }
}

/** The message is sent, or will be: its change is no Retry. Most of these changes are our own ticks. */
function isOnItsWay(row: OutboxRow | undefined): boolean {
  return row !== undefined && knownOf(row.status) !== 'unsent'
}

/** Whether the message is of our helpdesk inbox, and so young that the helpdesk offers Retry. */
function isOfOurInbox(change: Change): boolean {
  const { route, command } = change
  return otherInbox(route.destination, command.conversation) === undefined && ageOf(change) <= retryOfferedMs
}

/** Until when the callback of a row without a callback may still come: its first look waits for the callback. */
function awaitedUntil({ lookAt, createdAt }: OutboxRow, now: number): number {
  // The row may have been stored before the clock was put back.
  return Math.min(lookAt ?? 0, Math.min(createdAt, now) + overtakenMs)
}

function ageOf({ command, receivedAt }: Change): number {
  return receivedAt - (command.writtenAt ?? 0)
}
