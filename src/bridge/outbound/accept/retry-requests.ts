// Notices that an agent may have pressed Retry. The helpdesk only says that a message changed, so the request is stored, and
// `Retries` asks the helpdesk about it.

import { waitingLifetimeMs } from '../../../core/outbox.ts'
import type { RowId } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { RetryStore, Unheard } from '../../../storage/stores/messages/retry-store.ts'
import type { Route } from '../../conversations/route.ts'
import type { ChatRef } from '../send/recipients.ts'
import type { AnswerRoutes } from './answer-routes.ts'
import { callbackKey, messageRow, noRecipient, otherInbox, unsendable } from './commands.ts'
import type { ChangeCommand } from './commands.ts'

// Settled callbacks are kept longer than that.
const knownForMs = 7 * 24 * 3_600_000
const tooOld =
  'it is not known here whether this message was sent, because it is older than the instance: look on the phone, and write it again if it is missing'

type Deps = {
  outbox: Pick<OutboxStore, 'ofMessage'>
  store: Pick<RetryStore, 'ask' | 'keepAsked'>
  answers: Pick<AnswerRoutes, 'of'>
  newId: () => RowId
  clock: Clock
  /** Starts `Retries.run` in the background. */
  wake: () => void
}

export class RetryRequests {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when the request is stored, or when the change is no request. */
  async note(route: Route, command: ChangeCommand, receivedAt: number): Promise<void> {
    const { outbox, store, wake } = this.#deps
    const { destination } = route
    const isReachable = [null, destination?.accountId].includes(command.place.accountId)
    if (!destination || !isReachable || command.externalError !== null || command.place.conversationId === null) return
    const row = await outbox.ofMessage(destination.key, command.messageId)
    if (row && !canBeAskedFor(row, receivedAt)) return
    const ask = { at: receivedAt, until: receivedAt + waitingLifetimeMs }
    if (row && row.chatId !== '') {
      if (await store.ask(row, ask)) wake()
      return
    }
    const unheard = await this.#unheard(route, command)
    if (unheard && (await store.keepAsked(unheard, ask))) wake()
  }

  /** A message that was never accepted was never sent: its callback was lost or refused. */
  async #unheard(route: Route, command: ChangeCommand): Promise<Unheard | undefined> {
    const { answers, newId, clock } = this.#deps
    const { writtenAt, messageId, place } = command
    const now = clock.now()
    if (writtenAt === null || now - writtenAt > knownForMs) return undefined
    const { sender, destination, ref } = await answers.of(route, command)
    const rowTo = (to: Pick<ChatRef, 'chatId' | 'jid'>) =>
      messageRow(newId(), now, { sender, destination, ref: to }, command)
    const older = writtenAt < sender.createdAt ? tooOld : undefined
    const refusal = otherInbox(destination, place) ?? older ?? unsendable(command)?.reason
    if (!ref || refusal !== undefined)
      return { row: rowTo({ chatId: '', jid: '' }), refusal: refusal ?? noRecipient(destination) }
    return { row: rowTo(ref), callback: callbackKey(route, messageId) }
  }
}

/** Only a message that was not sent, and only after the helpdesk was told so. */
function canBeAskedFor({ status, report, reportAt }: OutboxRow, receivedAt: number): boolean {
  const isUnsent = status === 'failed' || status === 'expired' || status === 'refused'
  return isUnsent && report === 'done' && reportAt !== null && reportAt <= receivedAt
}
