// Finds the messages of a conversation whose callbacks have not come yet: the helpdesk has them, and we do not.

import type { Destination, Downstream } from '../../../core/downstream.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { SendContextStore } from '../../../storage/stores/messages/send-context-store.ts'
import type { ConversationTurns } from './conversation-turns.ts'

type Deps = {
  downstream: Pick<Downstream, 'helpdesk'>
  store: Pick<SendContextStore, 'acceptedAmong'>
  clock: Pick<Clock, 'now'>
}

type Conversation = { destination: Destination; conversationId: number }

// The callback of an older message was lost, or the webhook was set later.
const recentMs = 3_600_000

export class MissingCallbacks {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** One request. The turns then know what comes before `beforeId`, and before the later messages that exist by now. */
  async lookUp(
    { destination, conversationId }: Conversation,
    turns: ConversationTurns,
    beforeId: number,
  ): Promise<void> {
    const { downstream, store, clock } = this.#deps
    const range = { afterId: turns.knownUpTo, beforeId }
    const messages = await downstream.helpdesk(destination).outgoingMessages(conversationId, range)
    const since = clock.now() - recentMs
    const written = messages.filter(({ createdAt }) => createdAt > since).map(({ id }) => id)
    const missing = written.filter((id) => turns.isMissing(id))
    // This process does not know the callbacks that the process before it got.
    const accepted = new Set(missing.length === 0 ? [] : await store.acceptedAmong(destination.key, missing))
    turns.answered(
      Math.max(beforeId, ...written),
      missing.filter((id) => !accepted.has(id)),
    )
  }
}
