// Decides whether a message is refused: it cannot be delivered from here, or it repeats the message before it.

import type { ImportState } from '../../../core/history/import-state.ts'
import { wordsIn } from '../../../storage/stores/messages/outbox-rows.ts'
import type { Fingerprints } from '../../../guard/fingerprints.ts'
import { isWithinWindow } from '../../../guard/spamguard.ts'
import type { CallbackKey, SettledKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { Route, Sender } from '../../conversations/route.ts'
import type { PlannedLooks } from '../queue/planned-looks.ts'
import { previewOf } from '../send/outbound-metrics.ts'
import type { OutboundMetrics } from '../send/outbound-metrics.ts'
import type { SendingAccounts } from '../send/sending-accounts.ts'
import type { Deadline } from './answer-in-time.ts'
import type { CallbackAge } from './callback-ages.ts'
import { noRecipient, nowhere, otherInbox, unsendable } from './commands.ts'
import type { SendCommand } from './commands.ts'
import { importRefusal } from './import-refusal.ts'
import type { MessageRows } from './message-rows.ts'
import { blockedReason, repeated, tooOldReason } from './send-answer.ts'
import type { SendAnswer, UndeliverableCode } from './send-answer.ts'
import type { UndecidedRows } from './undecided-rows.ts'

type Deps = {
  outbox: Pick<OutboxStore, 'newestOf' | 'keepRefused' | 'settledBy'>
  undecided: Pick<UndecidedRows, 'reopen' | 'run'>
  looks: Pick<PlannedLooks, 'after'>
  metrics: Pick<OutboundMetrics, 'blocked'>
  accounts: Pick<SendingAccounts, 'countBlock'>
  /** The spamguard of the service. Each instance can switch it off for itself. */
  spamguard: boolean
  /** From this age on, the helpdesk has given up on a callback. */
  maxAgeMs: number
  fingerprints: Pick<Fingerprints, 'matches'>
  rows: Pick<MessageRows, 'create'>
}

/** `stale` is the answer instead of a refusal when the chat is known only from memory. */
type Refusing<Stale> = { key: SettledKey | null; deadline: Deadline; stale?: Stale | undefined }

export class SendGuards {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Why the message cannot be delivered from here. Undefined when it can, or when its chat is not known yet. */
  async checkCommand(route: Route, command: SendCommand): Promise<SendAnswer | undefined> {
    const { content, attachments, lacksFile, conversation } = command
    const isEmpty = content.trim() === '' && attachments.length === 0 && !lacksFile
    if (isEmpty) return { kind: 'ignored', reason: 'empty' }
    const elsewhere = otherInbox(route.destination, conversation)
    if (elsewhere) return this.#undeliverable(route, command, 'other_inbox', elsewhere)
    const flaw = unsendable(command)
    return flaw && this.#undeliverable(route, command, flaw.code, flaw.reason)
  }

  /** Neither the stored conversation nor the contact says who is to be answered. */
  refuseNoRecipient(route: Route, command: SendCommand): Promise<SendAnswer> {
    return this.#undeliverable(route, command, 'no_recipient', noRecipient(route.destination))
  }

  /** Whether the history in the conversation forbids the message. A message that may be sent later is kept for Retry. */
  async checkImport<Stale = never>(
    row: NewOutboxRow,
    command: SendCommand,
    state: ImportState,
    { key, deadline, stale }: Refusing<Stale>,
  ): Promise<SendAnswer | Stale | undefined> {
    const refusal = importRefusal(command, state, row.createdAt)
    if (!refusal || stale) return refusal && stale
    const { code, reason } = refusal
    const isFinal = code === 'history_conversation'
    const kept = isFinal ? { ...row, chatId: nowhere.chatId, remoteJid: nowhere.jid } : row
    return (await this.#keepRefused(kept, key, reason, deadline)) ?? { kind: 'undeliverable', code, reason }
  }

  /** Undefined when the message does not repeat the one before it. */
  async check<Stale = never>(
    sender: Sender,
    row: NewOutboxRow,
    refusing: Refusing<Stale>,
  ): Promise<SendAnswer | Stale | undefined> {
    const { key, deadline, stale } = refusing
    const { outbox, undecided, spamguard, fingerprints } = this.#deps
    const { instance, chatId, fingerprint, createdAt } = row
    if (!spamguard || !sender.isSpamguardEnabled || fingerprint === null) return undefined
    // The agent may write a message again that was stored too late.
    await undecided.run(instance)
    const previous = await outbox.newestOf(instance, chatId)
    if (!previous || !isWithinWindow(previous.at, createdAt)) return undefined
    const isRepeat = fingerprints.matches(previous.fingerprint, wordsIn(row))
    if (!isRepeat || stale) return isRepeat ? stale : undefined
    // The message before it may be this one, which was stored too late and is withdrawn by now.
    const settled = key && !deadline.isOver ? await outbox.settledBy(key) : undefined
    if (settled && (await undecided.reopen(settled))) return this.check(sender, row, refusing)
    return this.#block(row, key, deadline)
  }

  /** Whether the helpdesk had given up on the callback before we read it. */
  isTooOld({ sentMsAgo }: CallbackAge): boolean {
    return sentMsAgo !== null && sentMsAgo > this.#deps.maxAgeMs
  }

  /** The helpdesk already shows the message as failed. The message is kept for Retry. */
  async refuseTooOld(row: NewOutboxRow, callback: CallbackKey | null): Promise<SendAnswer> {
    const answered = await this.#keepRefused(row, callback, tooOldReason)
    return answered ?? { kind: 'undeliverable', code: 'too_old', reason: tooOldReason }
  }

  async #block(row: NewOutboxRow, key: SettledKey | null, deadline: Deadline): Promise<SendAnswer> {
    const { metrics, accounts } = this.#deps
    const { instance, ownerTag, remoteJid, messageId } = row
    const answered = await this.#keepRefused(row, key, blockedReason, deadline)
    if (answered) return answered
    const preview = previewOf(wordsIn(row).content)
    const extras = { count: accounts.countBlock(instance), preview, remote_jid: remoteJid, msg_id: messageId ?? 0 }
    metrics.blocked({ instance, ownerTag }, extras)
    return { kind: 'blocked', reason: blockedReason }
  }

  /**
   * Undefined when the refusal is stored; else the answer to a repeated callback or request. Without a deadline the helpdesk does
   * not wait for an answer, so a row that may still be withdrawn stays as it is.
   */
  async #keepRefused(
    row: NewOutboxRow,
    key: SettledKey | null,
    reason: string,
    deadline?: Deadline,
  ): Promise<SendAnswer | undefined> {
    const { outbox, undecided, looks } = this.#deps
    // No agent can ask for a direct message again. Only its key needs the row.
    if (row.kind === 'direct' && key === null) return undefined
    // A repeated callback of an accepted message is not a second message.
    const settled = key && (await outbox.settledBy(key))
    if (settled && deadline?.isOver) return { kind: 'late' }
    const isOpen = !settled || (deadline && (await undecided.reopen(settled)))
    if (!isOpen) return repeated(settled)
    const isKept = await looks.after(row.id, (lookAt) => outbox.keepRefused(row, { reason, lookAt }, key))
    return isKept ? undefined : { kind: 'ignored', reason: 'duplicate' }
  }

  /** Keeps a row, so that the agent sees the reason. The callback stays open: a repeat may find a recipient. */
  async #undeliverable(
    { sender, destination }: Route,
    command: SendCommand,
    code: UndeliverableCode,
    reason: string,
  ): Promise<SendAnswer> {
    const { outbox, looks, rows } = this.#deps
    const { conversationId, accountId } = command.conversation
    const isReachable = accountId === null || accountId === destination?.accountId
    if (destination && isReachable && conversationId !== null && command.messageId) {
      const row = rows.create({ sender, destination, ref: nowhere }, command)
      await looks.after(row.id, (lookAt) => outbox.keepRefused(row, { reason, lookAt }, null))
    }
    return { kind: 'undeliverable', code, reason }
  }
}
