// Finds the message that an outgoing message quotes.

import type { InstanceName, NetworkMessageId } from '../../../core/ids.ts'
import type { QuotedMessage } from '../../../core/network/outgoing-content.ts'
import { unknownSender } from '../../../storage/stores/messages/adopted-message-store.ts'
import type { MappedMessage, MessageMapStore } from '../../../storage/stores/messages/message-map-store.ts'

/** A notice about a message has the same id on the network as the message. A quote or a reaction names the author. */
export function messageAmong(found: readonly MappedMessage[]): MappedMessage | null {
  const ofKnown = found.filter(({ sender }) => sender !== unknownSender)
  return ofKnown.find(({ kind }) => kind === 'message') ?? ofKnown[0] ?? null
}

export async function quoteOf(
  map: Pick<MessageMapStore, 'contentOf'>,
  { id, networkKey }: MappedMessage,
): Promise<QuotedMessage> {
  const content = await map.contentOf(id)
  return { key: networkKey, text: content?.text ?? '' }
}

/** Null when the message is not known any more. */
export async function quoteById(
  map: Pick<MessageMapStore, 'findByNetworkId' | 'contentOf'>,
  instance: InstanceName,
  id: NetworkMessageId,
): Promise<QuotedMessage | null> {
  const quoted = messageAmong(await map.findByNetworkId(instance, [id]))
  return quoted && quoteOf(map, quoted)
}
