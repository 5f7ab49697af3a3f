// Accepts the messages that the helpdesk asks to send. "Accepted" means committed: the row is in the database.
//
// The idea of the immediate send: a text that can leave at once needs a single commit between the callback and the network.
//   1. Memory, or one read, says who owns the conversation and where the chat last wrote from. The commit of step 4 checks what
//      comes from memory.
//   2. If the message needs nothing else, `ImmediateSend` composes it and gives its part an id.
//   3. `OutboxWorker.startPrepared` starts the send. The session encrypts the message, but holds its frame back.
//   4. Meanwhile one commit stores the row as `sending`, with the id of the part, and settles the callback.
//   5. The promise `stored` resolves: the frame leaves. If the commit fails, `stored` resolves to false and nothing leaves.
// After a crash the row says `sending`, so the part is repeated under the same id, and the recipient shows it once.
// Every other message is stored as `pending` and takes its turn in the queue of its chat.

import type { ChatId, InstanceName } from '../../../core/ids.ts'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import type { ChatLanes } from '../../../lib/queues/chat-lanes.ts'
import type { Statement } from '../../../storage/engine/statement.ts'
import type { Route } from '../../conversations/route.ts'
import type { ImmediateSend } from '../send/immediate-send.ts'
import type { Accepted, AnswerInTime, Deadline } from './answer-in-time.ts'
import type { CallbackAge } from './callback-ages.ts'
import type { CallbackOrder } from './callback-order.ts'
import { callbackKey } from './commands.ts'
import type { SendCommand } from './commands.ts'
import type { LaterTurn } from './later-turn.ts'
import type { Message, MessageStorage } from './message-storage.ts'
import type { NewRows } from './new-rows.ts'
import type { Seen, SendAnswer } from './send-answer.ts'
import type { SendContext, SendContexts } from './send-context.ts'
import type { SendGuards } from './send-guards.ts'

export type OtherNodes = {
  /** Accepts for an instance that another node holds; undefined when this node holds it. */
  acceptorFor(instance: InstanceName): Pick<MessageAcceptor, 'send'> | undefined
  /** Accepts for an instance that has left this node while its message was accepted; null where no other part can. */
  acceptor: Pick<MessageAcceptor, 'send'> | null
  /** Queues what other nodes have stored for the instance: what is accepted after that comes behind it. */
  catchUp(instance: InstanceName): Promise<void>
  /**
   * Touches one row while other nodes have stored nothing for the chat, so that no look is needed. Undefined where only a look can
   * tell: this node itself has messages of the chat, or there is no other node.
   */
  noneStored(instance: InstanceName, chatId: ChatId): Statement | undefined
}

type Deps = {
  guards: Pick<SendGuards, 'checkCommand' | 'refuseNoRecipient' | 'checkImport' | 'check' | 'isTooOld' | 'refuseTooOld'>
  order: Pick<CallbackOrder, 'inTurn' | 'skip'>
  contexts: Pick<SendContexts, 'questionOf' | 'recall' | 'read'>
  immediate: Pick<ImmediateSend, 'prepare'>
  storage: Pick<MessageStorage, 'store' | 'storeIf'>
  answers: Pick<AnswerInTime, 'within' | 'listen'>
  rows: Pick<NewRows, 'rowOf'>
  others: OtherNodes
  /** Shared with everything that accepts messages. */
  lanes: ChatLanes
}

/** What is known of a message when its callback comes. */
type Arrival = { command: SendCommand; age: CallbackAge }

/** Without a `turn` the message may be sent as soon as it is accepted. */
type Acceptance = Arrival & { deadline: Deadline; turn?: LaterTurn }

type KnownContext = Omit<SendContext, 'hasUnread'>

type Store<Refusal> = (message: Message, noneStored?: Statement) => Promise<Stored<Refusal>>

type Stored<Refusal> = { stored: 'accepted' | SendAnswer | Refusal } & Seen

/**
 * With `stale` the context is one from memory. Nothing is stored and nothing is refused when it is no longer true, and the message is
 * then accepted in another way.
 */
type Storing<Refusal> = { store: Store<Refusal>; stale?: Refusal }

export class MessageAcceptor implements PerInstance {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Answers within `withinMs`. */
  async send(route: Route, arrival: Arrival, withinMs: number): Promise<SendAnswer> {
    const { guards, order, answers } = this.#deps
    const { command, age } = arrival
    const refusal = await guards.checkCommand(route, command)
    if (refusal) {
      order.skip(route, command)
      return refusal
    }
    return await answers.within(withinMs, (deadline) => {
      const accept = (turn?: LaterTurn) => this.#accept(route, { ...arrival, deadline, ...(turn && { turn }) })
      if (!guards.isTooOld(age)) return order.inTurn(route, command, { ...age, leftMs: withinMs }, accept)
      order.skip(route, command)
      return accept()
    })
  }

  /** Two records of a person became one. Resolves when the messages that were being accepted meanwhile are stored. */
  merged(instance: InstanceName, { keep, drop }: { keep: ChatId; drop: ChatId }): Promise<void> {
    return this.#deps.lanes.merge(instance, keep, drop)
  }

  leave(instance: InstanceName): void {
    this.#deps.lanes.leave(instance)
  }

  async #accept(route: Route, acceptance: Acceptance): Promise<Accepted | SendAnswer> {
    const { contexts, storage, guards, others } = this.#deps
    const { command, deadline } = acceptance
    let question = await contexts.questionOf(route, command)
    const recalled = await contexts.recall(question)
    // Another node reads for itself, so this one would never learn that its memory is old.
    if (recalled && !others.acceptorFor(recalled.sender.name)) {
      const { unchanged, unread } = recalled
      const store: Store<'stale'> = (message, noneStored) => {
        const conditions = noneStored ? [unchanged, noneStored] : [unchanged]
        return storage.storeIf({ conditions, unread }, message, deadline)
      }
      const accepted = await this.#acceptAt<'stale'>(route, recalled, acceptance, { store, stale: 'stale' })
      if (accepted !== 'stale') return accepted
      // The person may have another record by now, or another node has stored a message of the chat.
      question = await contexts.questionOf(route, command)
    }
    const context = await contexts.read(question)
    if (!context) return guards.refuseNoRecipient(route, command)
    const { hasUnread } = context
    const store: Store<never> = async (message) => ({ stored: await storage.store(message, deadline), hasUnread })
    return this.#acceptAt(route, context, acceptance, { store })
  }

  /** Instances that share a helpdesk inbox may be on different nodes. The owner of the one that answers sends the message. */
  async #acceptAt<Refusal>(
    route: Route,
    context: KnownContext,
    acceptance: Acceptance,
    storing: Storing<Refusal>,
  ): Promise<Accepted | SendAnswer | Refusal> {
    const { others } = this.#deps
    const elsewhere = others.acceptorFor(context.sender.name)
    if (elsewhere) return acceptElsewhere(elsewhere, route, acceptance)
    try {
      return await this.#acceptIn(context, acceptance, storing)
    } catch (error) {
      // It has left. If its row was stored all the same, the other part finds the callback settled.
      if (!(error instanceof NotHeldError) || !others.acceptor) throw error
      return acceptElsewhere(others.acceptor, route, acceptance)
    }
  }

  async #acceptIn<Refusal>(
    { sender, destination, ref: found, facts, importState }: KnownContext,
    { command, age, turn, deadline }: Acceptance,
    { store, stale }: Storing<Refusal>,
  ): Promise<Accepted | SendAnswer | Refusal> {
    const { guards, immediate, answers, rows, others } = this.#deps
    const callback = callbackKey({ sender, destination }, command.messageId)
    // Messages of a chat are accepted one after the other: the order of acceptance is the order of sending, and the
    // spamguard compares each message with the one before it.
    return await this.#deps.lanes.run(sender.name, found.chatId, async (chatId) => {
      const ref = { ...found, chatId }
      const row = rows.rowOf({ sender, destination, ref }, command)
      // First: what is refused for another reason can be sent by Retry.
      const imported = await guards.checkImport(row, command, importState, { key: callback, deadline, stale })
      if (imported) return imported
      if (guards.isTooOld(age)) return stale ?? guards.refuseTooOld(row, callback)
      const refusal = await guards.check(sender, row, { key: callback, deadline, stale })
      if (refusal) return refusal
      const noneStored = stale ? others.noneStored(sender.name, chatId) : undefined
      if (!noneStored) await others.catchUp(sender.name)
      const prepared = !turn && facts ? await immediate.prepare(row, ref, facts) : undefined
      const { listener, outcome } = answers.listen(row.instance)
      const message = { row, key: callback, prepared, listener, turn, destination }
      const { stored, hasUnread } = await store(message, noneStored)
      if (stored !== 'accepted') return stored
      const { id: queueId, instance, expiresAt } = row
      const taken = { address: facts?.lastAddress ?? ref.jid, hasUnread }
      return turn ? { kind: 'queued', queueId, instance, expiresAt, ...taken } : { row, outcome, ...taken }
    })
  }
}

async function acceptElsewhere(
  elsewhere: Pick<MessageAcceptor, 'send'>,
  route: Route,
  { command, age, deadline, turn }: Acceptance,
): Promise<SendAnswer> {
  // The owner sends what is stored at once, so the message is stored when its turn comes.
  await turn?.comes
  return elsewhere.send(route, { command, age }, deadline.leftMs())
}
