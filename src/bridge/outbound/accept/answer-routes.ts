// Says who answers whom: which instance speaks in a conversation, and to which chat.
//
// 1. The stored conversation, current or earlier, names the instance and the chat. If several instances use it, the one that
//    the customer wrote to last answers. An instance that does not exist any more, or that serves another helpdesk inbox by
//    now, is passed over.
// 2. Otherwise the instance that was asked answers, and the callback names the chat (`recipientChat`).
//
// While the helpdesk inbox is not identified, another Chatwoot may have taken its place, with the same conversation ids. A
// stored conversation then counts only if it is with the person whom the callback names. If it is with another person, only
// our own source id names the chat: a contact can also differ because an agent merged two contacts.

import type { Chat } from '../../../core/address.ts'
import type { CallbackConversation, Recipient } from '../../../core/downstream.ts'
import type { SendContextStore, StoredChat } from '../../../storage/stores/messages/send-context-store.ts'
import type { Route, RouteOf } from '../../conversations/route.ts'
import { ownChat, recipientChat, storedRef } from '../send/recipients.ts'
import type { ChatRef, Recipients } from '../send/recipients.ts'

/** The instance that answers, and the chat that it answers. */
export type AnswerRoute = Route & { ref: ChatRef }

type Deps = {
  store: Pick<SendContextStore, 'storedChats'>
  recipients: Pick<Recipients, 'refOf' | 'lookUp'>
  routeOf: RouteOf
}

export class AnswerRoutes {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Without `ref` nothing says who is to be answered. */
  async findRoute(
    route: Route,
    { conversation, recipient }: { conversation: CallbackConversation; recipient: Recipient },
  ): Promise<Route & { ref?: ChatRef }> {
    const { recipients, routeOf } = this.#deps
    const stored = await this.#storedChats(route, conversation.conversationId)
    const owner = await firstServed(routeOf, route, await believed(recipients, route, recipient, stored))
    if (owner) return owner
    const chat = namedChat(route, recipient, stored)
    return chat ? { ...route, ref: await recipients.refOf(route.sender.name, chat) } : route
  }

  /** The route itself, without `ref`, when the conversation is not stored. */
  async ownerOf(route: Route, conversationId: number | null): Promise<Route & { ref?: ChatRef }> {
    const stored = await this.#storedChats(route, conversationId)
    return (await firstServed(this.#deps.routeOf, route, stored)) ?? route
  }

  async #storedChats({ destination }: Route, conversationId: number | null): Promise<StoredChat[]> {
    if (!destination || conversationId === null) return []
    return this.#deps.store.storedChats(destination.key, conversationId)
  }
}

/** The chats of a stored conversation that the callback can mean. */
export async function believed<Stored extends StoredChat>(
  recipients: Pick<Recipients, 'lookUp'>,
  { destination }: Route,
  recipient: Recipient,
  stored: readonly Stored[],
): Promise<readonly Stored[]> {
  if (destination?.isUnidentified !== true) return stored
  const chat = recipientChat(recipient)
  if (!chat) return []
  const named = await Promise.all(stored.map(({ instance }) => recipients.lookUp(instance, chat)))
  return stored.filter(({ chatId }, n) => named[n]?.chatId === chatId)
}

/** The chat that the callback names when none of the stored chats is answered. */
export function namedChat(
  { destination }: Route,
  recipient: Recipient,
  stored: readonly StoredChat[],
): Chat | undefined {
  const isDoubtful = destination?.isUnidentified === true && stored.length > 0
  return isDoubtful ? ownChat(recipient) : recipientChat(recipient)
}

/** The first of these chats whose instance serves the destination of the route. */
export async function firstServed<Stored extends StoredChat>(
  routeOf: RouteOf,
  route: Route,
  stored: readonly Stored[],
): Promise<(AnswerRoute & { stored: Stored }) | undefined> {
  for (const each of stored) {
    const ref = storedRef(each)
    const owner = each.instance === route.sender.name ? route : await routeOf(each.instance)
    const isServed = owner !== undefined && owner.destination?.key === route.destination?.key
    if (ref && isServed) return { ...owner, ref, stored: each }
  }
  return undefined
}
