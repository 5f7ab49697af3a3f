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
import type { CallbackConversation, Recipient } from '../../../core/helpdesk/callback.ts'
import type { ImportState } from '../../../core/history/import-state.ts'
import type {
  SendContextStore,
  StoredChat,
  StoredConversation,
} from '../../../storage/stores/messages/send-context-store.ts'
import type { Route, RouteOf } from '../../conversations/route.ts'
import { ownChat, recipientChat, storedRef } from '../send/recipients.ts'
import type { ChatRef, Recipients } from '../send/recipients.ts'

/** The instance that answers, and the chat that it answers. */
export type AnswerRoute = Route & { ref: ChatRef }

/** Without `ref` nothing says who is to be answered. */
type FoundRoute = Route & { ref?: ChatRef; importState: ImportState }

const notStored: StoredConversation = {
  chats: [],
  importState: { isHistory: false, isImporting: false, endedAt: null },
}

type Deps = {
  store: Pick<SendContextStore, 'storedConversation'>
  recipients: Pick<Recipients, 'refOf' | 'lookUp'>
  routeOf: RouteOf
}

export class AnswerRoutes {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async findRoute(
    route: Route,
    { conversation, recipient }: { conversation: CallbackConversation; recipient: Recipient },
  ): Promise<FoundRoute> {
    const { recipients, routeOf } = this.#deps
    const { chats: stored, importState } = await this.#stored(route, conversation.conversationId)
    const owner = await firstServed(routeOf, route, await believed(recipients, route, recipient, stored))
    if (owner) return { ...owner, importState }
    const chat = namedChat(route, recipient, stored)
    const ref = chat && (await recipients.refOf(route.sender.name, chat))
    return { ...route, ...(ref && { ref }), importState }
  }

  /** The route itself, without `ref`, when the conversation is not stored. */
  async ownerOf(route: Route, conversationId: number | null): Promise<FoundRoute> {
    const { chats, importState } = await this.#stored(route, conversationId)
    const owner = (await firstServed(this.#deps.routeOf, route, chats)) ?? route
    return { ...owner, importState }
  }

  async #stored({ destination }: Route, conversationId: number | null): Promise<StoredConversation> {
    if (!destination || conversationId === null) return notStored
    return this.#deps.store.storedConversation(destination.key, conversationId)
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
