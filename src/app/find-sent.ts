// Finds a text that was sent, for the network: a recipient can ask for a message again after a restart.

import type { InstanceName, NetworkMessageId } from '../core/ids.ts'
import type { OutgoingContent } from '../core/network/outgoing-content.ts'
import type { MessageMapStore } from '../storage/stores/messages/message-map-store.ts'

type FindSent = (instance: InstanceName, networkId: NetworkMessageId) => Promise<OutgoingContent | null>

export function createFindSent(map: Pick<MessageMapStore, 'findByNetworkId' | 'contentOf'>): FindSent {
  return async (instance, networkId) => {
    const [row] = (await map.findByNetworkId(instance, [networkId])).filter(
      ({ direction, kind }) => direction === 'out' && kind === 'message',
    )
    const content = row && (await map.contentOf(row.id))
    if (content?.text === undefined || content.isFile) return null
    return { type: 'text', text: content.text, mentions: [], quote: null }
  }
}
