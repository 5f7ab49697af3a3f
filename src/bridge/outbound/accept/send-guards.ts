// Decides whether a message is refused: it cannot be delivered from here, or it repeats the message before it.

import type { Chat } from '../../../core/address.ts'
import type { RowId } from '../../../core/ids.ts'
import type { MessagePayload } from '../../../core/outbox.ts'
import { isRepeated } from '../../../guard/spamguard.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { CallbackKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { Route, Sender } from '../../conversations/route.ts'
import type { PlannedLooks } from '../queue/planned-looks.ts'
import { previewOf } from '../send/outbound-metrics.ts'
import type { OutboundMetrics } from '../send/outbound-metrics.ts'
import { recipientChat } from '../send/recipients.ts'
import type { SendingAccounts } from '../send/sending-accounts.ts'
import { messageRow, noRecipient, nowhere, otherInbox } from './commands.ts'
import type { SendCommand } from './commands.ts'
import { blockedReason, repeated } from './send-answer.ts'
import type { SendAnswer } from './send-answer.ts'

type Deps = {
  outbox: Pick<OutboxStore, 'newestOf' | 'keepRefused' | 'settledBy'>
  looks: Pick<PlannedLooks, 'plan'>
  metrics: Pick<OutboundMetrics, 'blocked'>
  accounts: Pick<SendingAccounts, 'countBlock'>
  /** The spamguard of the service. Each instance can switch it off for itself. */
  spamguard: boolean
  newId: () => RowId
  clock: Clock
}

export class SendGuards {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The chat to which the message goes, or why it cannot be delivered from here. */
  async checkCommand(route: Route, command: SendCommand): Promise<{ chat: Chat } | { refusal: SendAnswer }> {
    const { content, attachments, place, recipient } = command
    const isEmpty = content.trim() === '' && attachments.length === 0
    if (isEmpty) return { refusal: { kind: 'ignored', reason: 'empty' } }
    const elsewhere = otherInbox(route.destination, place)
    if (elsewhere) return { refusal: await this.#undeliverable(route, command, 'other_inbox', elsewhere) }
    const chat = recipientChat(recipient)
    return chat ? { chat } : { refusal: await this.#undeliverable(route, command, 'no_recipient', noRecipient) }
  }

  /** Undefined when the message does not repeat the one before it. */
  async check(sender: Sender, row: NewOutboxRow, callback: CallbackKey | null): Promise<SendAnswer | undefined> {
    const { outbox, spamguard } = this.#deps
    const { instance, chatId, fingerprint, createdAt } = row
    if (!spamguard || !sender.isSpamguardEnabled || fingerprint === null) return undefined
    const isRepeat = isRepeated(fingerprint, await outbox.newestOf(instance, chatId), createdAt)
    return isRepeat ? this.#block(row, callback) : undefined
  }

  async #block(row: NewOutboxRow, callback: CallbackKey | null): Promise<SendAnswer> {
    const { outbox, looks, metrics, accounts } = this.#deps
    const { instance, ownerTag, remoteJid, messageId } = row
    // A repeated callback of an accepted message is not a second message.
    const settled = callback && (await outbox.settledBy(callback))
    if (settled) return repeated(settled)
    const refusal = { reason: blockedReason, lookAt: looks.plan() }
    if (!(await outbox.keepRefused(row, refusal, callback))) return { kind: 'ignored', reason: 'duplicate' }
    const preview = previewOf((row.payload as MessagePayload).content)
    const extras = { count: accounts.countBlock(instance), preview, remote_jid: remoteJid, msg_id: messageId ?? 0 }
    metrics.blocked({ instance, ownerTag }, extras)
    return { kind: 'blocked', reason: blockedReason }
  }

  /** Keeps a row, so that the agent sees the reason. The callback stays open: a repeat may find a recipient. */
  async #undeliverable(
    { sender, destination }: Route,
    command: SendCommand,
    code: 'no_recipient' | 'other_inbox',
    reason: string,
  ): Promise<SendAnswer> {
    const { outbox, looks, newId, clock } = this.#deps
    const { conversationId, accountId } = command.place
    const isReachable = accountId === null || accountId === destination?.accountId
    if (destination && isReachable && conversationId !== null && command.messageId) {
      const row = messageRow(newId(), clock.now(), { sender, destination, ref: nowhere }, command)
      await outbox.keepRefused(row, { reason, lookAt: looks.plan() }, null)
    }
    return { kind: 'undeliverable', code, reason }
  }
}
