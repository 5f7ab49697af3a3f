// What we look up before accepting a callback: the instance that answers, the chat, and the last address that wrote to us.

import type { Recipient } from '../../../core/helpdesk/callback.ts'
import type { ImportState } from '../../../core/history/import-state.ts'
import type { Statement } from '../../../storage/engine/statement.ts'
import type {
  SendContextFacts,
  SendContextKey,
  SendContextStore,
} from '../../../storage/stores/messages/send-context-store.ts'
import type { Route, RouteOf } from '../../conversations/route.ts'
import { recipientChat } from '../send/recipients.ts'
import type { ChatFacts, ChatRef, Recipients } from '../send/recipients.ts'
import { believed, firstServed, namedChat } from './answer-routes.ts'
import type { AnswerRoute } from './answer-routes.ts'
import type { Seen } from './send-answer.ts'
import { callbackKey } from './commands.ts'
import type { SendCommand } from './commands.ts'

type Deps = {
  store: Pick<SendContextStore, 'read' | 'recall'>
  recipients: Pick<Recipients, 'lookUp' | 'refOf'>
  routeOf: RouteOf
}

/** Without `facts` the message cannot be sent immediately. */
export type SendContext = AnswerRoute & { facts: ChatFacts | undefined; importState: ImportState } & Seen

/**
 * A commit with `unchanged` fails when the context is no longer true. The commit also says with `unread` whether the conversation has
 * unread messages.
 */
export type RecalledContext = Omit<SendContext, 'hasUnread'> & { unchanged: Statement; unread: Statement }

/**
 * What a context is looked up by. `known` is the chat that the callback names, for a conversation that is not stored, when we
 * know the person already.
 */
type ContextQuestion = { route: Route; recipient: Recipient; known: ChatRef | undefined; key: SendContextKey }

export class SendContexts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async questionOf(route: Route, command: SendCommand): Promise<ContextQuestion> {
    const { destination, sender } = route
    const { recipient } = command
    const chat = recipientChat(recipient)
    const known = chat && (await this.#deps.recipients.lookUp(sender.name, chat))
    const key = {
      instance: sender.name,
      chatId: known?.chatId ?? null,
      destination: destination?.key ?? null,
      conversationId: command.conversation.conversationId,
      callback: callbackKey(route, command.messageId),
    }
    return { route, recipient, known, key }
  }

  /** From memory, when enough is remembered and the instance still answers. */
  async recall(question: ContextQuestion): Promise<RecalledContext | undefined> {
    const recalled = this.#deps.store.recall(question.key)
    if (!recalled) return undefined
    const isStored = recalled.stored.length > 0
    // Whether the callback is settled, and what is unread, the commit finds out.
    const found = { ...recalled, hasUnread: false, isSettled: false }
    const context = isStored ? await this.#stored(question, found) : await this.#named(question, found)
    if (!context) return undefined
    const { sender, destination, ref, facts, importState } = context
    const { unchanged, unread } = recalled
    return { sender, destination, ref, facts, importState, unchanged, unread }
  }

  /** Undefined when neither the stored conversation nor the callback says who is to be answered. */
  async read(question: ContextQuestion): Promise<SendContext | undefined> {
    const found = await this.#deps.store.read(question.key)
    return (await this.#stored(question, found)) ?? this.#named(question, found)
  }

  async #stored({ route, recipient }: ContextQuestion, found: SendContextFacts): Promise<SendContext | undefined> {
    const { recipients, routeOf } = this.#deps
    const owner = await firstServed(routeOf, route, await believed(recipients, route, recipient, found.stored))
    if (!owner) return undefined
    const { sender, destination, ref, stored } = owner
    const { hasUnread, importState } = found
    return { sender, destination, ref, facts: usable(found, stored), hasUnread, importState }
  }

  async #named(
    { route, recipient, known }: ContextQuestion,
    found: SendContextFacts,
  ): Promise<SendContext | undefined> {
    const chat = namedChat(route, recipient, found.stored)
    if (!chat) return undefined
    const ref = known ?? (await this.#deps.recipients.refOf(route.sender.name, chat))
    const { hasUnread, importState } = found
    return { ...route, ref, facts: usable(found, found.asked), hasUnread, importState }
  }
}

/** A repeated callback is not prepared: its encryption keys would be spent for nothing. */
function usable({ isSettled }: SendContextFacts, facts: ChatFacts | undefined): ChatFacts | undefined {
  return isSettled ? undefined : facts
}
