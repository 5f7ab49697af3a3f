// What we look up before accepting a callback: the instance that owns the conversation, the chat, and the last address that
// wrote to us.

import type { Chat } from '../../../core/address.ts'
import type { Statement } from '../../../storage/engine/statement.ts'
import type {
  SendContextFacts,
  SendContextKey,
  SendContextStore,
} from '../../../storage/stores/messages/send-context-store.ts'
import { routeOfOwner } from '../../conversations/conversation-owner.ts'
import type { RouteOf } from '../../conversations/conversation-owner.ts'
import type { Route } from '../../conversations/route.ts'
import type { ChatFacts, ChatRef, Recipients } from '../send/recipients.ts'
import type { Seen } from './send-answer.ts'
import { callbackKey } from './commands.ts'
import type { SendCommand } from './commands.ts'

type Deps = {
  store: Pick<SendContextStore, 'read' | 'recall'>
  recipients: Pick<Recipients, 'lookUp' | 'refOf'>
  routeOf: RouteOf
}

/** Without `facts` the message cannot be sent immediately. */
export type SendContext = Route & { ref: ChatRef; facts: ChatFacts | undefined } & Seen

/** `unchanged` makes a commit fail when the context is no longer true. */
type RecalledContext = SendContext & { unchanged: Statement }

/** What a context is looked up by. `known` is the chat when we know the person already. */
type ContextQuestion = { route: Route; chat: Chat; known: ChatRef | undefined; key: SendContextKey }

export class SendContexts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async questionOf(route: Route, command: SendCommand, chat: Chat): Promise<ContextQuestion> {
    const { destination, sender } = route
    const known = await this.#deps.recipients.lookUp(sender.name, chat)
    const key = {
      instance: sender.name,
      chatId: known?.chatId ?? null,
      destination: destination?.key ?? null,
      conversationId: command.place.conversationId,
      callback: callbackKey(sender.name, destination, command.messageId),
    }
    return { route, chat, known, key }
  }

  /** The context of the previous message, when that is recent. */
  async recall(question: ContextQuestion): Promise<RecalledContext | undefined> {
    const recalled = this.#deps.store.recall(question.key)
    return recalled && { ...(await this.#contextOf(question, recalled)), unchanged: recalled.unchanged }
  }

  async read(question: ContextQuestion): Promise<SendContext> {
    return this.#contextOf(question, await this.#deps.store.read(question.key))
  }

  async #contextOf({ route, chat, known }: ContextQuestion, found: SendContextFacts): Promise<SendContext> {
    const { recipients, routeOf } = this.#deps
    const { hasUnread } = found
    const owner = await routeOfOwner(routeOf, route, found.owner)
    // The facts are about the chat of the instance that was asked, not about the chat of another instance.
    if (owner !== route) {
      return { ...owner, ref: await recipients.refOf(owner.sender.name, chat), facts: undefined, hasUnread }
    }
    const ref = known ?? (await recipients.refOf(route.sender.name, chat))
    // A repeated callback is not prepared: its encryption keys would be spent for nothing.
    return { ...route, ref, facts: found.isSettled ? undefined : found, hasUnread }
  }
}
