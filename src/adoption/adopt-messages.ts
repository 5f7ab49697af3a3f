// Makes the messages of another bridge known to the message map, as far as their source ids carry the id of the network.

import { chatJid } from '../core/address.ts'
import type { Chat } from '../core/address.ts'
import type { ListedConversation } from '../core/helpdesk/conversation.ts'
import type { ListedMessage } from '../core/helpdesk/message.ts'
import type { ChatId, InstanceName, NetworkMessageId, RowId } from '../core/ids.ts'
import type { BridgeForms } from '../core/other-bridges/bridge-contact.ts'
import type { HoldOf } from '../core/nodes/hold.ts'
import type { Clock } from '../lib/clock.ts'
import { beginningOf } from '../lib/text/beginning-of.ts'
import { unknownSender } from '../storage/stores/messages/adopted-message-store.ts'
import type { AdoptedMessage, AdoptedMessageStore } from '../storage/stores/messages/adopted-message-store.ts'
import type { MessageMapStore } from '../storage/stores/messages/message-map-store.ts'
import type { JobInbox } from './helpdesk-questions.ts'
import { readNewestMessages } from './newest-messages.ts'

type Deps = {
  map: Pick<MessageMapStore, 'findByNetworkId'>
  store: Pick<AdoptedMessageStore, 'save'>
  holdOf: HoldOf
  newId: () => RowId
  clock: Clock
  /** How long the message map remembers a message. */
  rememberedMs: number
}

/** `chatId` is null for a person who has no record. Such a person only exists in a dry run. */
export type AdoptedChat = { instance: InstanceName; chat: Chat; chatId: ChatId | null }

type Work = { inbox: JobInbox; forms: BridgeForms; isDryRun: boolean }

const mostConversations = 5
const longestText = 1000

export class MessageAdoption {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Returns how many messages of the conversations were not known. The newest conversation comes first. */
  async run(of: AdoptedChat, conversations: readonly ListedConversation[], work: Work): Promise<number> {
    if (!work.forms.hasMessageIds) return 0
    const { clock, rememberedMs } = this.#deps
    const since = clock.now() - rememberedMs
    const recent = conversations.filter(({ lastActivityAt }) => lastActivityAt > since).slice(0, mostConversations)
    // Evolution API shows an edit as a second message with the same id. The first one is the message itself.
    const seen = new Set<NetworkMessageId>()
    for (const { id: conversationId, newestMessage } of recent.reverse()) {
      if (!newestMessage) continue
      const listed = await readNewestMessages(work.inbox, { conversationId, newestId: newestMessage.id })
      const written = new Map<NetworkMessageId, ListedMessage>()
      for (const message of listed) {
        const networkId = message.createdAt > since ? work.forms.messageIdOf(message.sourceId) : null
        if (networkId !== null && !seen.has(networkId) && !written.has(networkId)) written.set(networkId, message)
      }
      for (const networkId of await this.#adopt(of, { conversationId, written }, work)) seen.add(networkId)
    }
    return seen.size
  }

  /** Returns the ids that were not known. */
  async #adopt(
    of: AdoptedChat,
    { conversationId, written }: { conversationId: number; written: ReadonlyMap<NetworkMessageId, ListedMessage> },
    { inbox: { destination }, isDryRun }: Work,
  ): Promise<NetworkMessageId[]> {
    const { map, store, holdOf, clock } = this.#deps
    const found = await map.findByNetworkId(of.instance, [...written.keys()])
    const known = found.filter((row) => row.destination === destination && row.chat === of.chatId)
    const knownIds = new Set(known.map(({ networkId }) => networkId))
    const fresh = [...written].filter(([networkId]) => !knownIds.has(networkId))
    if (!isDryRun && of.chatId !== null) {
      const place = { ...of, chatId: of.chatId, destination, conversationId }
      const adopted = fresh.map(([networkId, message]) => this.#toAdopted(place, networkId, message))
      await store.save(holdOf(of.instance), adopted, clock.now())
    }
    return fresh.map(([networkId]) => networkId)
  }

  #toAdopted(
    of: AdoptedChat & { chatId: ChatId; destination: string; conversationId: number },
    networkId: NetworkMessageId,
    { id: messageId, createdAt: at, isIncoming, content }: ListedMessage,
  ): AdoptedMessage {
    const { instance, chat, chatId, destination, conversationId } = of
    const author = chat.kind === 'group' ? unknownSender : chatId
    return {
      ...{ id: this.#deps.newId(), instance, destination, chat: chatId, networkId, at, conversationId, messageId },
      sender: isIncoming ? author : 'me',
      direction: isIncoming ? 'in' : 'echo',
      networkKey: { chat: chatJid(chat), id: networkId, fromMe: !isIncoming, participant: null },
      text: beginningOf(content, longestText),
    }
  }
}
