// Says who answers whom: which instance speaks in a conversation, and to which chat.
//
// 1. The stored conversation, current or earlier, names the instance and the chat. If several instances use it, the one that
//    the customer wrote to last answers. An instance that does not exist any more, or that serves another helpdesk inbox by
//    now, is passed over.
// 2. Otherwise the instance that was asked answers, and the callback names the chat (`recipientChat`).

import type { CallbackPlace, Recipient } from '../../../core/downstream.ts'
import type { SendContextStore, StoredChat } from '../../../storage/stores/messages/send-context-store.ts'
import type { Route, RouteOf } from '../../conversations/route.ts'
import { recipientChat, storedRef } from '../send/recipients.ts'
import type { ChatRef, Recipients } from '../send/recipients.ts'

/** The instance that answers, and the chat that it answers. */
export type AnswerRoute = Route & { ref: ChatRef }

type Deps = {
  store: Pick<SendContextStore, 'storedChats'>
  recipients: Pick<Recipients, 'refOf'>
  routeOf: RouteOf
}

export class AnswerRoutes {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Without `ref` nothing says who is to be answered. */
  async of(
    route: Route,
    { place, recipient }: { place: CallbackPlace; recipient: Recipient },
  ): Promise<Route & { ref?: ChatRef }> {
    const owner = await this.ownerOf(route, place.conversationId)
    const chat = owner.ref ? undefined : recipientChat(recipient)
    return chat ? { ...route, ref: await this.#deps.recipients.refOf(route.sender.name, chat) } : owner
  }

  /** The route itself, without `ref`, when the conversation is not stored. */
  async ownerOf(route: Route, conversationId: number | null): Promise<Route & { ref?: ChatRef }> {
    const { store, routeOf } = this.#deps
    if (!route.destination || conversationId === null) return route
    return (await firstServed(routeOf, route, await store.storedChats(route.destination.key, conversationId))) ?? route
  }
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
