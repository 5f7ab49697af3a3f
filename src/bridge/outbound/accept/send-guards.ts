// Decides whether a message is refused: it cannot be delivered from here, or it repeats the message before it.

import type { MessagePayload } from '../../../core/outbox.ts'
import { isRepeated } from '../../../guard/spamguard.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { CallbackKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { Route, Sender } from '../../conversations/route.ts'
import type { FailureReporter } from '../queue/failure-reporter.ts'
import { previewOf } from '../send/outbound-metrics.ts'
import type { OutboundMetrics } from '../send/outbound-metrics.ts'
import type { SendingAccounts } from '../send/sending-accounts.ts'
import { noRecipient, otherInbox } from './commands.ts'
import type { SendCommand } from './commands.ts'
import { blockedReason, repeated } from './send-answer.ts'
import type { SendAnswer } from './send-answer.ts'

type Deps = {
  outbox: Pick<OutboxStore, 'newestOf' | 'keepRefused' | 'settledBy'>
  reporter: Pick<FailureReporter, 'due' | 'tellLater'>
  metrics: Pick<OutboundMetrics, 'blocked'>
  accounts: Pick<SendingAccounts, 'countBlock'>
  /** The spamguard of the service. Each instance can switch it off for itself. */
  spamguard: boolean
  clock: Clock
}

export class SendGuards {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Why the message cannot be delivered from here. Undefined when it can, or when its chat is not known yet. */
  checkCommand(route: Route, command: SendCommand): SendAnswer | undefined {
    const { content, attachments, place } = command
    const isEmpty = content.trim() === '' && attachments.length === 0
    if (isEmpty) return { kind: 'ignored', reason: 'empty' }
    const elsewhere = otherInbox(route.destination, place)
    return elsewhere === undefined ? undefined : this.#undeliverable(route, command, 'other_inbox', elsewhere)
  }

  /** Neither the stored conversation nor the contact says who is to be answered. */
  refuseNoRecipient(route: Route, command: SendCommand): SendAnswer {
    return this.#undeliverable(route, command, 'no_recipient', noRecipient)
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
    const { outbox, reporter, metrics, accounts, clock } = this.#deps
    const { instance, ownerTag, remoteJid, messageId } = row
    // A repeated callback of an accepted message is not a second message.
    const settled = callback && (await outbox.settledBy(callback))
    if (settled) return repeated(settled)
    const refusal = { reason: blockedReason, reportAt: reporter.due(clock.now()) }
    if (!(await outbox.keepRefused(row, refusal, callback))) return { kind: 'ignored', reason: 'duplicate' }
    const preview = previewOf((row.payload as MessagePayload).content)
    const extras = { count: accounts.countBlock(instance), preview, remote_jid: remoteJid, msg_id: messageId ?? 0 }
    metrics.blocked({ instance, ownerTag }, extras)
    return { kind: 'blocked', reason: blockedReason }
  }

  #undeliverable(
    { destination }: Route,
    { place, messageId }: SendCommand,
    code: 'no_recipient' | 'other_inbox',
    reason: string,
  ): SendAnswer {
    const { conversationId, accountId } = place
    const isReachable = accountId === null || accountId === destination?.accountId
    if (destination && isReachable && conversationId !== null && messageId) {
      this.#deps.reporter.tellLater(destination, conversationId, messageId, reason)
    }
    return { kind: 'undeliverable', code, reason }
  }
}
