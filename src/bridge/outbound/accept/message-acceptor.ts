// What the helpdesk's callbacks ask for: decides what is sent, what is ignored and what is refused, and stores before it acts.

import type { Destination } from '../../../core/downstream.ts'
import { waitingLifetimeMs } from '../../../core/outbox.ts'
import type { MessagePayload } from '../../../core/outbox.ts'
import type { Pace } from '../../../guard/pace.ts'
import { isRepeated } from '../../../guard/spamguard.ts'
import type { Clock } from '../../../lib/clock.ts'
import { KeyedLanes } from '../../../lib/keyed-lanes.ts'
import type { Log } from '../../../lib/log.ts'
import type { CallbackKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import { openedRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { NewOutboxRow, OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import { StorageError } from '../../../storage/engine/statement.ts'
import type { UndecidedRows } from './undecided-rows.ts'
import type { SendStep } from '../send/row-sender.ts'
import { claimOf } from '../send/immediate-send.ts'
import type { SendAddress, ImmediateSend } from '../send/immediate-send.ts'
import type { FailureReporter } from '../queue/failure-reporter.ts'
import { previewOf } from '../send/outbound-metrics.ts'
import type { OutboundMetrics } from '../send/outbound-metrics.ts'
import type { OutboxWorker } from '../queue/outbox-worker.ts'
import type { RowOutcome } from '../queue/row-outcomes.ts'
import { recipientChat } from '../send/recipients.ts'
import type { ChatRef } from '../send/recipients.ts'
import { blockedReason, repeated } from './send-answer.ts'
import type { Route, Sender } from '../../conversations/route.ts'
import type { Seen, SendAnswer } from './send-answer.ts'
import { callbackKey, messageRow, noRecipient, otherInbox } from './commands.ts'
import type { SendCommand } from './commands.ts'
import type { SendContext, SendContexts } from './send-context.ts'

type Deps = {
  outbox: OutboxStore
  undecided: UndecidedRows
  contexts: SendContexts
  immediate: ImmediateSend
  worker: OutboxWorker
  reporter: FailureReporter
  ledger: OutboundMetrics
  pace: Pick<Pace, 'isExhausted' | 'release'>
  spamguard: boolean
  isReady: (instance: string) => boolean
  /** Logged in, and handling what waited for it. */
  isNearlyReady: (instance: string) => boolean
  /** Counts a block on the record of the instance; how many there are now. */
  countBlock: (instance: string) => number
  onStep: (step: SendStep) => Promise<void>
  newId: () => string
  clock: Clock
  log: Log
}

type Accepted = { row: NewOutboxRow; fate: Promise<RowOutcome> } & Seen
type Message = { row: NewOutboxRow; callback: CallbackKey | null; departure: SendAddress | undefined } & Pick<
  SendContext,
  'still' | 'hasUnread'
>
/** What was remembered of the surroundings is no longer so. */
type Stale = 'stale'

const fullReason = 'the account is not connected and 200 messages already wait: try again when it is back'

export class MessageAcceptor {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Decides within `withinMs`; what is accepted goes on in the background. */
  async send(route: Route, command: SendCommand, withinMs: number): Promise<SendAnswer> {
    const { clock } = this.#deps
    const deadline = clock.monotonic() + withinMs
    if (command.content.trim() === '' && command.attachments.length === 0) return { kind: 'ignored', reason: 'empty' }
    const late = Promise.withResolvers<SendAnswer>()
    const given = { up: withinMs <= 0 }
    const cancel = clock.after(withinMs, () => {
      given.up = true
      late.resolve({ kind: 'late' })
    })
    try {
      const accepting = this.#accept(route, command, given)
      accepting.catch(() => undefined)
      const accepted = await Promise.race([accepting, late.promise])
      if (!('row' in accepted)) return accepted
      return await this.#fateOf(accepted, deadline - clock.monotonic())
    } finally {
      cancel()
    }
  }

  async #accept(route: Route, command: SendCommand, given: { up: boolean }): Promise<Accepted | SendAnswer> {
    const elsewhere = otherInbox(route.destination, command.place)
    if (elsewhere) return this.#turnAway(route, command, 'other_inbox', elsewhere)
    const chat = recipientChat(command.recipient)
    if (!chat) return this.#turnAway(route, command, 'no_recipient', noRecipient)
    const { contexts } = this.#deps
    const accepted = await this.#acceptIn(await contexts.of(route, command, chat, { afresh: false }), command, given)
    if (accepted !== 'stale') return accepted
    const around = await contexts.of(route, command, chat, { afresh: true })
    return (await this.#acceptIn(around, command, given)) as Exclude<typeof accepted, Stale>
  }

  async #acceptIn(
    around: SendContext,
    command: SendCommand,
    given: { up: boolean },
  ): Promise<Accepted | SendAnswer | Stale> {
    const { sender, destination, ref, heard, still, hasUnread } = around
    const callback = callbackKey(sender.name, destination, command.messageId)
    // One after the other: who comes first is sent first, and is what the next one is compared with.
    return this.#lanes.run(`${sender.name} ${ref.chat}`, async () => {
      const row = this.#newRow(sender, destination, ref, command)
      if (await this.#isBlocked(sender, row)) return this.#block(sender, row, callback)
      const departure = heard && (await this.#deps.immediate.prepare(row, ref, heard))
      const message = { row, callback, departure, still, hasUnread }
      return this.#deps.undecided.while(row.id, () => this.#store(message, given))
    })
  }

  async #store(message: Message, given: { up: boolean }): Promise<Accepted | SendAnswer | Stale> {
    const { row, departure, hasUnread } = message
    const { worker, pace, onStep } = this.#deps
    const stored = Promise.withResolvers<boolean>()
    const heard = Promise.withResolvers<RowOutcome>()
    const listen = (fate: RowOutcome) => {
      // Logged in and about to be ready: worth the rest of the time.
      if (fate.kind !== 'waiting' || !this.#deps.isNearlyReady(row.instance)) heard.resolve(fate)
    }
    const opened = openedRow(row)
    const leaves = departure && worker.depart(opened, { departure, stored: stored.promise }, listen)
    try {
      const refusal = await this.#commit(message, leaves ? departure : undefined, given)
      if (refusal) {
        if (leaves) pace.release(row.instance)
        return refusal
      }
      await onStep('accepted')
      stored.resolve(true)
    } finally {
      stored.resolve(false)
    }
    if (!leaves) worker.submit(row, listen, opened)
    return { row, fate: heard.promise, hasUnread }
  }

  /** Undefined when it is stored and will be sent. */
  async #commit(
    message: Message,
    departure: SendAddress | undefined,
    given: { up: boolean },
  ): Promise<SendAnswer | Stale | undefined> {
    const { row, callback, still } = message
    const { outbox, undecided, reporter, clock } = this.#deps
    const stored = await outbox
      .enqueue(row, callback, { leaving: departure && claimOf(departure), still })
      .catch((error: unknown) => this.#giveUp(row, error))
    if (stored === 'stale') return stored
    if (stored === 'full') {
      const refusal = { reason: fullReason, reportAt: reporter.due(clock.now()) }
      await outbox.keepRefused({ ...row, id: this.#deps.newId() }, refusal, null)
      return { kind: 'full' }
    }
    if (stored === 'duplicate') {
      const settled = callback && (await outbox.settledBy(callback))
      if (settled && (await undecided.withdraw(settled.id))) return this.#commit(message, departure, given)
      return settled ? repeated(settled) : { kind: 'ignored', reason: 'duplicate' }
    }
    if (!given.up) return undefined
    // The helpdesk has been told that it failed: then it must not be sent.
    await undecided.refuse(row.id)
    return { kind: 'late' }
  }

  /** What was answered to the same callback before; undefined when it is the first. */
  async #settled(callback: CallbackKey | null): Promise<SendAnswer | undefined> {
    const settled = callback && (await this.#deps.outbox.settledBy(callback))
    return settled ? repeated(settled) : undefined
  }

  /** The commit may have been made although nobody heard of it; the helpdesk hears that it failed. */
  async #giveUp({ id }: NewOutboxRow, error: unknown): Promise<never> {
    const isCertain = error instanceof StorageError && error.failure !== 'unavailable'
    if (!isCertain) await this.#deps.undecided.refuse(id)
    throw error
  }

  /** What can be said of an accepted message within the time that is left. */
  async #fateOf({ row, fate, hasUnread }: Accepted, leftMs: number): Promise<SendAnswer> {
    const { worker, clock } = this.#deps
    const taken = { queueId: row.id, instance: row.instance, hasUnread }
    const cut = Promise.withResolvers<undefined>()
    const cancel = clock.after(Math.max(0, leftMs), () => {
      cut.resolve(undefined)
    })
    try {
      const known = await Promise.race([fate, cut.promise])
      if (known?.kind === 'sent') return { kind: 'sent', ...taken, waid: known.waid }
      if (known?.kind === 'failed') return { kind: 'refused', reason: known.reason }
      const { expires_at: expiresAt } = (known && (await Promise.race([this.#stored(row), cut.promise]))) ?? row
      return { kind: 'queued', ...taken, expiresAt }
    } finally {
      cancel()
      worker.stopListening(row.id)
    }
  }

  /** The row as it is by now. It will be sent, so failing to read it is no failure of the message. */
  #stored({ id }: NewOutboxRow): Promise<OutboxRow | undefined> {
    const { outbox, log } = this.#deps
    return outbox.find(id).catch((err: unknown) => {
      log.warn({ err, queue_id: id }, 'when a queued message expires could not be read')
      return undefined
    })
  }

  #newRow(sender: Sender, destination: Destination | null, ref: ChatRef, command: SendCommand): NewOutboxRow {
    const { clock, isReady, pace, newId } = this.#deps
    const now = clock.now()
    const mustConnect = !isReady(sender.name)
    return {
      ...messageRow(newId(), now, { sender, destination, ref }, command),
      waiting: mustConnect || pace.isExhausted(sender.name) ? 1 : 0,
      drained: mustConnect ? 1 : 0,
      expires_at: mustConnect ? now + waitingLifetimeMs : null,
    }
  }

  async #isBlocked(sender: Sender, { instance, chat, fingerprint, created_at }: NewOutboxRow): Promise<boolean> {
    if (!this.#deps.spamguard || !sender.isSpamguardEnabled || fingerprint === null) return false
    return isRepeated(fingerprint, await this.#deps.outbox.newestOf(instance, chat), created_at)
  }

  async #block(sender: Sender, row: NewOutboxRow, callback: CallbackKey | null): Promise<SendAnswer> {
    const { outbox, reporter, ledger, countBlock, clock } = this.#deps
    // A repeat of what was accepted is no second message.
    const settled = await this.#settled(callback)
    if (settled) return settled
    const refusal = { reason: blockedReason, reportAt: reporter.due(clock.now()) }
    if (!(await outbox.keepRefused(row, refusal, callback))) return { kind: 'ignored', reason: 'duplicate' }
    const { content } = row.payload as MessagePayload
    ledger.blocked(
      { instance: sender.name, owner_tag: sender.ownerTag },
      {
        count: countBlock(sender.name),
        preview: previewOf(content),
        remote_jid: row.remote_jid,
        msg_id: row.message_id ?? 0,
      },
    )
    return { kind: 'blocked', reason: blockedReason }
  }

  #turnAway(
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
