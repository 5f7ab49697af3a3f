// Finds messages that are at the helpdesk already, for events that refer to them.

import { DownstreamError } from '../../core/downstream.ts'
import type { DestinationKey, InstanceName, NetworkMessageId } from '../../core/ids.ts'
import { mayBeSender } from '../../storage/stores/messages/adopted-message-store.ts'
import type { InboxRow } from '../../storage/stores/messages/inbox-store.ts'
import type { MappedMessage, MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import type { OpenConversation } from '../conversations/conversation-memory.ts'
import type { HelpdeskTarget } from '../conversations/conversation-opener.ts'
import type { EventContext } from '../conversations/event-context.ts'
import type { ExactlyOncePoster } from '../posting/exactly-once-poster.ts'
import { messageKeyOf } from '../posting/message-key.ts'

type Deps = { map: Pick<MessageMapStore, 'findByNetworkId'>; poster: Pick<ExactlyOncePoster, 'flushed'> }

export class EarlierMessages {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The message that an edit, a reaction or the like is about. */
  async targetOf(
    instance: InstanceName,
    id: NetworkMessageId,
    destination: DestinationKey,
  ): Promise<MappedMessage | undefined> {
    const known = await this.#find(instance, id)
    return known.find((each) => each.destination === destination && each.messageId !== null)
  }

  /** True when the content of a message that could not be opened has come meanwhile. */
  async hasContent({ instance, event }: InboxRow, context: EventContext): Promise<boolean> {
    if (event.kind !== 'undecryptable') return false
    const known = await this.#find(instance, event.id)
    return known.some(
      ({ chat, sender, kind, messageId }) =>
        chat === context.chat.chatId &&
        mayBeSender(sender, context.senderId) &&
        kind !== 'undecryptable' &&
        messageId !== null,
    )
  }

  /**
   * Whether this very event is at the helpdesk: the network may deliver an event again. An earlier process may have posted it
   * without noting that; then the conversation in which the event is.
   */
  async postedBefore(
    { instance, event }: InboxRow,
    { chat, senderId }: EventContext,
    kind: string,
    { destination, helpdesk }: Pick<HelpdeskTarget, 'destination' | 'helpdesk'>,
  ): Promise<OpenConversation | boolean> {
    const known = await this.#find(instance, event.id)
    const same = known.find(
      (each) =>
        each.destination === destination.key &&
        each.chat === chat.chatId &&
        mayBeSender(each.sender, senderId) &&
        each.kind === kind,
    )
    if (!same?.posting) return same !== undefined && same.messageId !== null
    const { conversationId: id, after } = same.posting
    const found = await helpdesk.findPosted(id, event.id, after).catch(nullWhenGone)
    return found ? { id, newest: found.id } : false
  }

  /** The message that was posted without its file. */
  async originalOf({ instance, event }: InboxRow, destination: DestinationKey): Promise<MappedMessage | undefined> {
    // Other senders may have used the same message id.
    const { chat, participant } = messageKeyOf(event)
    const known = await this.#find(instance, event.id)
    return known.find(
      (each) =>
        each.kind === 'message' &&
        each.destination === destination &&
        each.networkKey.chat === chat &&
        each.networkKey.participant === participant,
    )
  }

  async #find(instance: InstanceName, id: NetworkMessageId): Promise<MappedMessage[]> {
    await this.#deps.poster.flushed(instance)
    return this.#deps.map.findByNetworkId(instance, [id])
  }
}

/** With the conversation its messages are gone too. */
function nullWhenGone(error: unknown): null {
  if (error instanceof DownstreamError && error.failure === 'gone') return null
  throw error
}
