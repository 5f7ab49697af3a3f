// Shows the typing of a chat in its conversation. Opens neither a contact nor a conversation.
//
// Only a few of these requests run at the same time: when the helpdesk is slow, most connections stay free for messages.

import type { Chat } from '../../core/address.ts'
import { DownstreamError } from '../../core/downstream.ts'
import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Log } from '../../lib/log.ts'
import { KeyedLimits } from '../../lib/queues/keyed-limits.ts'
import type { ChatContact, ConversationDirectory } from '../conversations/conversation-directory.ts'
import type { EventContexts } from '../conversations/event-context.ts'
import type { ShownResult } from './chat-typing.ts'

type Target = { instance: InstanceName; destination: Destination; helpdesk: HelpdeskInbox }

/** The conversation in which a chat is shown as typing, and the helpdesk that has it. */
export type TypingConversation = Target & { conversationId: number; sourceId: string }

/** `conversation` can be used for the next request. */
type Shown = { result: ShownResult; conversation?: TypingConversation }

type Deps = {
  contexts: Pick<EventContexts, 'knownChat'>
  conversations: Pick<ConversationDirectory, 'existing'>
  targetOf: (instance: InstanceName) => Promise<Target | null>
  log: Log
}

const requestsPerOrigin = 4
const neverAborted = new AbortController().signal

export class TypingRequests {
  readonly #deps: Deps
  readonly #limits = new KeyedLimits<string>(requestsPerOrigin)

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Without `known` the conversation of the chat is looked up. Does not reject. */
  async show(
    instance: InstanceName,
    chat: Chat,
    isTyping: boolean,
    known: TypingConversation | undefined,
  ): Promise<Shown> {
    try {
      if (known) return await this.#limited(known, () => setTyping(known, isTyping))
      const { contexts, targetOf } = this.#deps
      const contact = await contexts.knownChat(instance, chat)
      const target = contact && (await targetOf(instance))
      if (!target) return { result: 'no_contact' }
      return await this.#limited(target, () => this.#showIn(contact, target, isTyping))
    } catch (err) {
      this.#deps.log.debug({ err, instance }, 'typing could not be shown')
      const isGone = err instanceof DownstreamError && err.failure === 'gone'
      return isGone ? { result: 'no_conv' } : { result: 'ds_error', ...(known && { conversation: known }) }
    }
  }

  async #showIn(contact: ChatContact, target: Target, isTyping: boolean): Promise<Shown> {
    const found = await this.#deps.conversations.existing(contact, { ...target, onStep: () => undefined })
    if (typeof found === 'string') return { result: found }
    return setTyping({ ...target, conversationId: found.id, sourceId: found.sourceId }, isTyping)
  }

  #limited({ destination }: Target, work: () => Promise<Shown>): Promise<Shown> {
    const { origin } = new URL(destination.baseUrl)
    return this.#limits.run(origin, neverAborted, work)
  }
}

async function setTyping(conversation: TypingConversation, isTyping: boolean): Promise<Shown> {
  await conversation.helpdesk.setTyping(conversation, isTyping)
  return { result: 'ok', conversation }
}
