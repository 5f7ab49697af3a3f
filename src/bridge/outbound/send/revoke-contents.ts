// What takes back everything on the network that was, or may have been, sent for a message of the helpdesk.

import type { DestinationKey, RowId } from '../../../core/ids.ts'
import type { MessageKey } from '../../../core/message.ts'
import type { OutgoingContent } from '../../../core/network/outgoing-content.ts'
import type { RevokePayload } from '../../../core/outbox.ts'
import type { MappedMessage, MessageMapStore } from '../../../storage/stores/messages/message-map-store.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'

type Deps = {
  outbox: Pick<OutboxStore, 'ofMessage'>
  map: Pick<MessageMapStore, 'findByMessage' | 'contentOf' | 'reactionsAfter'>
}

export class RevokeContents {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async of(destination: DestinationKey, { messageId, target }: RevokePayload): Promise<OutgoingContent[]> {
    const { map, outbox } = this.#deps
    if (target) return [{ type: 'revoke', target }]
    const mapped = await sentMessages(map, destination, messageId)
    const known = new Set(mapped.map(({ networkId }) => networkId))
    const row = await outbox.ofMessage(destination, messageId)
    const doubtful = (row?.parts ?? []).filter(({ id, state }) => state === 'unknown' && id !== '' && !known.has(id))
    const chat = row?.remoteJid ?? ''
    return [
      ...(await Promise.all(mapped.map((each) => this.#contentFor(each)))).filter((each) => each !== null),
      ...doubtful.map(({ id }) => ({ type: 'revoke' as const, target: { chat, id, fromMe: true, participant: null } })),
    ]
  }

  /** A reaction is replaced by an empty one, unless a newer reaction replaced it already. */
  async #contentFor(mapped: MappedMessage): Promise<OutgoingContent | null> {
    const { id, kind, networkKey } = mapped
    if (kind === 'message') return { type: 'revoke', target: networkKey }
    const target = kind === 'reaction' ? await this.#targetOf(id) : undefined
    if (!target) return null
    for (const later of await this.#deps.map.reactionsAfter(mapped)) {
      const other = await this.#targetOf(later)
      if (other?.id === target.id && other.fromMe === target.fromMe) return null
    }
    return { type: 'reaction', target, emoji: '' }
  }

  async #targetOf(reactionId: RowId): Promise<MessageKey | undefined> {
    return (await this.#deps.map.contentOf(reactionId))?.reactsTo
  }
}

/** The messages that we sent for a message of the helpdesk. */
export async function sentMessages(
  map: Pick<MessageMapStore, 'findByMessage'>,
  destination: DestinationKey,
  messageId: number,
): Promise<MappedMessage[]> {
  return (await map.findByMessage(destination, messageId)).filter(({ direction }) => direction === 'out')
}
