// Makes the messages of another bridge known to the message map, as far as their source ids carry the id of the network.

import { chatJid } from '../core/address.ts'
import type { Chat } from '../core/address.ts'
import type { ListedConversation } from '../core/helpdesk/conversation.ts'
import type { ListedMessage } from '../core/helpdesk/message.ts'
import type { ChatId, InstanceName, RowId } from '../core/ids.ts'
import type { BridgeForms } from '../core/other-bridges/bridge-contact.ts'
import type { Clock } from '../lib/clock.ts'
import { unknownSender } from '../storage/stores/messages/adopted-message-store.ts'
import type { AdoptedMessage, AdoptedMessageStore } from '../storage/stores/messages/adopted-message-store.ts'
import type { MessageMapStore } from '../storage/stores/messages/message-map-store.ts'
import type { JobInbox } from './helpdesk-questions.ts'

type Deps = {
  map: Pick<MessageMapStore, 'findByNetworkId'>
  store: Pick<AdoptedMessageStore, 'save'>
  epoch: () => number
  newId: () => RowId
  clock: Clock
  /** How long the message map remembers a message. */
  rememberedMs: number
}

/** `chatId` is null for a person who has no record. Such a person only exists in a dry run. */
export type AdoptedChat = { instance: InstanceName; chat: Chat; chatId: ChatId | null }

type Work = { inbox: JobInbox; forms: BridgeForms; isDryRun: boolean }

const mostConversations = 5
const mostMessages = 200
const longestText = 1000

export class MessageAdoption {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Returns how many messages of the conversations were not known. */
  async run(of: AdoptedChat, conversations: readonly ListedConversation[], work: Work): Promise<number> {
    if (!work.forms.hasMessageIds) return 0
    const { clock, rememberedMs } = this.#deps
    const since = clock.now() - rememberedMs
    const recent = conversations.filter(({ lastActivityAt }) => lastActivityAt > since).slice(0, mostConversations)
    let count = 0
    for (const { id, newestMessage } of recent) {
      if (!newestMessage) continue
      const range = { newestId: newestMessage.id, most: mostMessages }
      const listed = await work.inbox.ask((helpdesk) => helpdesk.newestMessages(id, range))
      const written = listed.filter(({ createdAt }) => createdAt > since)
      count += await this.#adopt(of, { conversationId: id, written }, work)
    }
    return count
  }

  async #adopt(
    of: AdoptedChat,
    { conversationId, written }: { conversationId: number; written: readonly ListedMessage[] },
    { inbox: { destination }, forms, isDryRun }: Work,
  ): Promise<number> {
    const { map, store, epoch, clock } = this.#deps
    // Evolution API shows an edit as a second message with the same id. The first one is the message itself.
    const byId = new Map<string, ListedMessage>()
    for (const message of written) {
      const networkId = forms.messageIdOf(message.sourceId)
      if (networkId !== null && !byId.has(networkId)) byId.set(networkId, message)
    }
    const known = await map.findByNetworkId(of.instance, [...byId.keys()])
    for (const row of known) {
      if (row.destination === destination && row.chat === of.chatId) byId.delete(row.networkId)
    }
    if (!isDryRun && of.chatId !== null) {
      const place = { ...of, chatId: of.chatId, destination, conversationId }
      await store.save(
        epoch(),
        [...byId].map(([networkId, message]) => this.#toAdopted(place, networkId, message)),
        clock.now(),
      )
    }
    return byId.size
  }

  #toAdopted(
    of: AdoptedChat & { chatId: ChatId; destination: string; conversationId: number },
    networkId: string,
    { id: messageId, createdAt: at, isIncoming, content }: ListedMessage,
  ): AdoptedMessage {
    const { instance, chat, chatId, destination, conversationId } = of
    const author = chat.kind === 'group' ? unknownSender : chatId
    return {
      ...{ id: this.#deps.newId(), instance, destination, chat: chatId, networkId, at, conversationId, messageId },
      sender: isIncoming ? author : 'me',
      direction: isIncoming ? 'in' : 'echo',
      networkKey: { chat: chatJid(chat), id: networkId, fromMe: !isIncoming, participant: null },
      text: content.slice(0, longestText),
    }
  }
}
