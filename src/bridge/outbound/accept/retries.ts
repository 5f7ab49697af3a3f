// The agent's Retry. The helpdesk only tells that a message has changed: that is noted, then the message is looked at there,
// and one that is shown as sent is sent.

import { DownstreamError } from '../../../core/downstream.ts'
import type { Destination, Downstream } from '../../../core/downstream.ts'
import { waitingLifetimeMs } from '../../../core/outbox.ts'
import type { OutboxPart } from '../../../core/outbox.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { RetryStore, Unheard } from '../../../storage/stores/messages/retry-store.ts'
import type { OwnerOf } from '../../conversations/conversation-owner.ts'
import type { FailureReporter } from '../queue/failure-reporter.ts'
import type { Route } from '../../conversations/route.ts'
import type { OutboxWorker } from '../queue/outbox-worker.ts'
import { recipientChat } from '../send/recipients.ts'
import type { Recipients } from '../send/recipients.ts'
import { callbackKey, messageRow, noRecipient, otherInbox } from './commands.ts'
import type { ChangeCommand } from './commands.ts'

const lookAgainMs = 5000
const atOnce = 20
// What was accepted is remembered for longer than that.
const knownForMs = 7 * 24 * 3_600_000
const tooOld =
  'it is not known here whether this message was sent, because it is older than the instance: look on the phone, and write it again if it is missing'
const unanswered = 'the helpdesk did not say whether the message is to be sent again: try again'

type Deps = {
  outbox: Pick<OutboxStore, 'ofMessage'>
  store: RetryStore
  downstream: Pick<Downstream, 'helpdesk'>
  destinationOf: (row: OutboxRow) => Promise<Destination | null>
  recipients: Pick<Recipients, 'refOf'>
  ownerOf: OwnerOf
  reporter: Pick<FailureReporter, 'due'>
  worker: Pick<OutboxWorker, 'submit'>
  isReady: (instance: string) => boolean
  newId: () => string
  clock: Clock
  log: Log
  /** Looks at what was asked for, in the background. */
  wake: () => void
}

export class Retries {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when it is stored that the agent may have asked for this message. */
  async noteRequest(route: Route, command: ChangeCommand, receivedAt: number): Promise<void> {
    const { outbox, store, wake } = this.#deps
    const { destination } = route
    const isReachable = [null, destination?.accountId].includes(command.place.accountId)
    if (!destination || !isReachable || command.externalError !== null || command.place.conversationId === null) return
    const row = await outbox.ofMessage(destination.key, command.messageId)
    if (row && !isOver(row, receivedAt)) return
    const ask = { at: receivedAt, until: receivedAt + waitingLifetimeMs }
    if (row && row.chat !== '') {
      if (await store.ask(row, ask)) wake()
      return
    }
    const unheard = await this.#unheard(route, command)
    if (unheard && (await store.keep(unheard, ask))) wake()
  }

  async run(): Promise<void> {
    const { store, clock } = this.#deps
    for (let rows = await store.asked(clock.now(), atOnce); rows.length > 0;) {
      await Promise.all(rows.map((row) => this.#answer(row)))
      rows = rows.length < atOnce ? [] : await store.asked(clock.now(), atOnce)
    }
  }

  /** A message that was never accepted was never sent: it failed while we were away, or could not be taken. */
  async #unheard(route: Route, command: ChangeCommand): Promise<Unheard | undefined> {
    const { recipients, ownerOf, newId, clock } = this.#deps
    const { writtenAt, messageId, place } = command
    const now = clock.now()
    if (writtenAt === null || now - writtenAt > knownForMs) return undefined
    const { sender, destination } = await ownerOf(route, place.conversationId)
    const rowTo = (ref: { chat: string; jid: string }) =>
      messageRow(newId(), now, { sender, destination, ref }, command)
    const chat = recipientChat(command.recipient)
    const older = writtenAt < sender.createdAt ? tooOld : undefined
    const refusal = otherInbox(destination, place) ?? older
    if (!chat || refusal !== undefined) return { row: rowTo({ chat: '', jid: '' }), refusal: refusal ?? noRecipient }
    const ref = await recipients.refOf(sender.name, chat)
    return { row: rowTo(ref), callback: callbackKey(sender.name, destination, messageId) }
  }

  async #answer(row: OutboxRow): Promise<void> {
    const { store, worker, reporter, clock } = this.#deps
    const look = await this.#isWanted(row)
    if (look === 'unanswered') {
      const isLate = clock.now() >= (row.expires_at ?? 0)
      if (isLate) await store.refuse(row, unanswered, reporter.due(clock.now()))
      else await store.postpone(row.id, clock.now() + lookAgainMs)
    } else if (look === 'unwanted') await store.leave(row)
    else if (await store.retry(row, partsAgain(row.parts), this.#waiting(row.instance), clock.now())) worker.submit(row)
    else await store.refuse(row, unanswered, reporter.due(clock.now()))
  }

  async #isWanted(row: OutboxRow): Promise<'wanted' | 'unwanted' | 'unanswered'> {
    const { downstream, destinationOf, log } = this.#deps
    const { conversation_id: conversation, message_id: message } = row
    const destination = await destinationOf(row)
    if (conversation === null || message === null || destination?.key !== row.destination) return 'unwanted'
    try {
      const shown = await downstream.helpdesk(destination).findMessage(conversation, message)
      return shown?.status === 'sent' && !shown.isDeleted ? 'wanted' : 'unwanted'
    } catch (err) {
      if (!(err instanceof DownstreamError)) throw err
      log.warn({ err, instance: row.instance, queue_id: row.id }, 'the helpdesk could not be asked about a message')
      return 'unanswered'
    }
  }

  #waiting(instance: string) {
    const { isReady, clock } = this.#deps
    if (isReady(instance)) return { waiting: 0, drained: 0, expires_at: null }
    return { waiting: 1, drained: 1, expires_at: clock.now() + waitingLifetimeMs }
  }
}

/** Only for what failed with us, and after the helpdesk knew of it. */
function isOver({ status, report, report_at }: OutboxRow, receivedAt: number): boolean {
  const hasFailed = status === 'failed' || status === 'expired' || status === 'refused'
  return hasFailed && report === 'done' && report_at !== null && report_at <= receivedAt
}

/** What is known not to be sent gets a new id; what may have arrived keeps its own, so that it is shown once. */
function partsAgain(parts: readonly OutboxPart[]): OutboxPart[] {
  if (!parts.some(({ state }) => state === 'sent' || state === 'unknown')) return []
  return parts.map((part) =>
    part.state === 'sent' || part.state === 'unknown' ? part : { id: '', of: part.of, state: 'new' },
  )
}
