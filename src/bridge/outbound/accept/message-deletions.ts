// An agent deleted a message at the helpdesk: it is not sent, or taken back on the network.

import type { DestinationKey, InstanceName, NetworkMessageId, RowId } from '../../../core/ids.ts'
import type { RevokePayload } from '../../../core/outbox.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { MappedMessage, MessageMapStore } from '../../../storage/stores/messages/message-map-store.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import { lacksCallback } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { RetryStore } from '../../../storage/stores/messages/retry-store.ts'
import type { CallbackKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import type { Route } from '../../conversations/route.ts'
import type { OutboxWorker } from '../queue/outbox-worker.ts'
import { sentMessages } from '../send/revoke-contents.ts'
import type { SendingAccounts } from '../send/sending-accounts.ts'
import { callbackKey, deletedReason } from './commands.ts'
import type { ChangeCommand } from './commands.ts'
import { isWithdrawn } from './undecided-rows.ts'
import type { UndecidedRows } from './undecided-rows.ts'

type Deps = {
  outbox: Pick<OutboxStore, 'ofMessage' | 'enqueue' | 'settleAhead'>
  transitions: Pick<OutboxTransitions, 'cancel'>
  retries: Pick<RetryStore, 'discard'>
  undecided: Pick<UndecidedRows, 'has' | 'run'>
  map: Pick<MessageMapStore, 'findByMessage' | 'findByNetworkId'>
  worker: Pick<OutboxWorker, 'submit' | 'drop'>
  accounts: Pick<SendingAccounts, 'isReady'>
  newId: () => RowId
  clock: Clock
}

export class MessageDeletions {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async follow(route: Route, { messageId, sourceId }: ChangeCommand): Promise<void> {
    const { map, worker } = this.#deps
    if (!route.destination) return
    if (sourceId !== undefined) return this.#followPosted(route, messageId, sourceId)
    const { key } = route.destination
    const known = await this.#decided(key, messageId)
    const isUnsettled = !known || lacksCallback(known) || isWithdrawn(known)
    const isUnknown = isUnsettled && (await sentMessages(map, key, messageId)).length === 0
    const callback = callbackKey(route, messageId)
    if (isUnknown && callback && (await this.#settleAhead(route.sender.name, callback, known))) return
    const row = await this.#cancel(key, messageId)
    if (row?.status === 'pending') worker.drop(row)
    const [sent] = await sentMessages(map, key, messageId)
    const mayHaveLeft = row?.status === 'sending' || row?.isUnconfirmed === true
    if (!sent && !mayHaveLeft) return
    const where = {
      instance: sent?.instance ?? row?.instance ?? '',
      ownerTag: row?.ownerTag ?? '',
      inboxId: row?.inboxId ?? 0,
      chatId: sent?.chat ?? row?.chatId ?? '',
      remoteJid: sent?.networkKey.chat ?? row?.remoteJid ?? '',
    }
    await this.#queueRevoke(key, where, { type: 'revoke', messageId })
  }

  /** The row of the message. If the row was stored too late, it is withdrawn or queued first: the revoke must come after it. */
  async #decided(destination: DestinationKey, messageId: number): Promise<OutboxRow | undefined> {
    const { outbox, undecided } = this.#deps
    const row = await outbox.ofMessage(destination, messageId)
    if (!row || !undecided.has(row.id)) return row
    await undecided.run(row.instance)
    return outbox.ofMessage(destination, messageId)
  }

  /** The service posted the message. A direct message is taken back. What the owner wrote on the phone stays there. */
  async #followPosted({ sender, destination }: Route, messageId: number, sourceId: NetworkMessageId): Promise<void> {
    const { map } = this.#deps
    if (!destination) return
    const [posted] = await sentMessages(map, destination.key, messageId)
    const sent = posted ?? (await this.#unposted(sender.name, sourceId))
    if (!sent) return
    const { instance, chat: chatId, networkKey: target } = sent
    const { ownerTag, inboxId } = sender
    const where = { instance, ownerTag, inboxId, chatId, remoteJid: target.chat }
    await this.#queueRevoke(destination.key, where, { type: 'revoke', messageId, target })
  }

  /** The helpdesk has the direct message, and its answer is lost or not stored yet. */
  async #unposted(instance: InstanceName, sourceId: NetworkMessageId): Promise<MappedMessage | undefined> {
    const found = await this.#deps.map.findByNetworkId(instance, [sourceId])
    return found.find(
      ({ direction, kind, messageId }) => direction === 'out' && kind === 'message' && messageId === null,
    )
  }

  /**
   * The deletion can arrive before the message. The callback of the message must then be settled, by no row. A change of the
   * message may have left a row without a callback, which is deleted. False when the callback has arrived.
   */
  async #settleAhead(instance: InstanceName, callback: CallbackKey, known: OutboxRow | undefined): Promise<boolean> {
    const { outbox, retries, clock } = this.#deps
    const isSettled = await outbox.settleAhead(instance, callback, clock.now())
    if (!known || !lacksCallback(known)) return isSettled
    await retries.discard(known.instance, known.id)
    // That row itself may have settled the callback.
    return isSettled || outbox.settleAhead(instance, callback, clock.now())
  }

  /** The row as it was when it was cancelled, or the row that cannot be cancelled. */
  async #cancel(destination: DestinationKey, messageId: number): Promise<OutboxRow | undefined> {
    const { outbox, transitions, clock } = this.#deps
    let row = await outbox.ofMessage(destination, messageId)
    // A row that could not be cancelled has just changed its state, and may have left.
    while (row?.status === 'pending' && !(await transitions.cancel(row, deletedReason, clock.now()))) {
      row = await outbox.ofMessage(destination, messageId)
    }
    return row
  }

  /**
   * The revoke takes its turn in the chat, so that it comes after its message. It neither expires nor counts as waiting: the
   * agent cannot ask for it again.
   */
  async #queueRevoke(
    destination: DestinationKey,
    where: Pick<OutboxRow, 'instance' | 'ownerTag' | 'inboxId' | 'chatId' | 'remoteJid'>,
    payload: RevokePayload,
  ): Promise<void> {
    const { outbox, worker, accounts, newId, clock } = this.#deps
    const { instance } = where
    const row = {
      id: newId(),
      kind: 'revoke' as const,
      ...where,
      destination,
      conversationId: null,
      messageId: null,
      isWaiting: false,
      isDrained: !accounts.isReady(instance),
      expiresAt: null,
      fingerprint: null,
      createdAt: clock.now(),
      payload,
    }
    const callback = { destination, kind: 'message_deleted', eventId: payload.messageId }
    if ((await outbox.enqueue(row, callback)) === 'accepted') worker.submit(row)
  }
}
