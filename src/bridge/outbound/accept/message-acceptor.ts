// Accepts the messages that the helpdesk asks to send. "Accepted" means committed: the row is in the database.
//
// The idea of the immediate send: a text that can leave at once needs a single commit between the callback and the network.
//   1. One read (or the read of the previous message) says who owns the conversation and where the chat last wrote from.
//   2. If the message needs nothing else, `ImmediateSend` composes it and gives its part an id.
//   3. `OutboxWorker.startPrepared` starts the send. The session encrypts the message, but holds its frame back.
//   4. Meanwhile one commit stores the row as `sending`, with the id of the part, and settles the callback.
//   5. The promise `stored` resolves: the frame leaves. If the commit fails, `stored` resolves to false and nothing leaves.
// After a crash the row says `sending`, so the part is repeated under the same id, and the recipient shows it once.
// Every other message is stored as `pending` and takes its turn in the queue of its chat.

import type { Chat } from '../../../core/address.ts'
import type { RowId } from '../../../core/ids.ts'
import { waitingLifetimeMs } from '../../../core/outbox.ts'
import type { Pace } from '../../../guard/pace.ts'
import type { Clock } from '../../../lib/clock.ts'
import { KeyedLanes } from '../../../lib/keyed-lanes.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { Route } from '../../conversations/route.ts'
import type { ImmediateSend } from '../send/immediate-send.ts'
import type { SendingAccounts } from '../send/sending-accounts.ts'
import type { Accepted, AnswerInTime, Deadline } from './answer-in-time.ts'
import { callbackKey, messageRow } from './commands.ts'
import type { SendCommand } from './commands.ts'
import type { Message, MessageStorage } from './message-storage.ts'
import type { SendAnswer } from './send-answer.ts'
import type { SendContext, SendContexts } from './send-context.ts'
import type { SendGuards } from './send-guards.ts'

type Deps = {
  guards: Pick<SendGuards, 'checkCommand' | 'check'>
  contexts: Pick<SendContexts, 'questionOf' | 'recall' | 'read'>
  immediate: Pick<ImmediateSend, 'prepare'>
  storage: Pick<MessageStorage, 'store' | 'storeIf'>
  answers: Pick<AnswerInTime, 'within' | 'listen'>
  accounts: Pick<SendingAccounts, 'isReady'>
  pace: Pick<Pace, 'isExhausted'>
  newId: () => RowId
  clock: Clock
}

export class MessageAcceptor {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Answers within `withinMs`. */
  async send(route: Route, command: SendCommand, withinMs: number): Promise<SendAnswer> {
    const { guards, answers } = this.#deps
    const checked = await guards.checkCommand(route, command)
    if ('refusal' in checked) return checked.refusal
    return answers.within(withinMs, (deadline) => this.#accept(route, command, checked.chat, deadline))
  }

  async #accept(route: Route, command: SendCommand, chat: Chat, deadline: Deadline): Promise<Accepted | SendAnswer> {
    const { contexts, storage } = this.#deps
    let question = await contexts.questionOf(route, command, chat)
    const recalled = await contexts.recall(question)
    if (recalled) {
      const { unchanged } = recalled
      const store = (message: Message) => storage.storeIf(unchanged, message, deadline)
      const accepted = await this.#acceptIn(recalled, command, store)
      if (accepted !== 'stale') return accepted
      // The person may have another record by now.
      question = await contexts.questionOf(route, command, chat)
    }
    const context = await contexts.read(question)
    return this.#acceptIn(context, command, (message) => storage.store(message, deadline))
  }

  async #acceptIn<Refusal>(
    { sender, destination, ref, facts, hasUnread }: SendContext,
    command: SendCommand,
    store: (message: Message) => Promise<'accepted' | Refusal>,
  ): Promise<Accepted | SendAnswer | Refusal> {
    const { guards, immediate, answers } = this.#deps
    const callback = callbackKey(sender.name, destination, command.messageId)
    // Messages of a chat are accepted one after the other: the order of acceptance is the order of sending, and the
    // spamguard compares each message with the one before it.
    return this.#lanes.run(`${sender.name} ${ref.chatId}`, async () => {
      const row = this.#newRow({ sender, destination, ref }, command)
      const refusal = await guards.check(sender, row, callback)
      if (refusal) return refusal
      const prepared = facts && (await immediate.prepare(row, ref, facts))
      const { listener, outcome } = answers.listen(row.instance)
      const stored = await store({ row, callback, prepared, listener })
      return stored === 'accepted' ? { row, outcome, hasUnread } : stored
    })
  }

  #newRow(context: Pick<SendContext, 'sender' | 'destination' | 'ref'>, command: SendCommand): NewOutboxRow {
    const { clock, accounts, pace, newId } = this.#deps
    const { name } = context.sender
    const now = clock.now()
    const mustConnect = !accounts.isReady(name)
    return {
      ...messageRow(newId(), now, context, command),
      isWaiting: mustConnect || pace.isExhausted(name),
      isDrained: mustConnect,
      expiresAt: mustConnect ? now + waitingLifetimeMs : null,
    }
  }
}
