// Finds the messages of a conversation whose callbacks have not come yet: the helpdesk has them, and we do not.

import type { Destination, Downstream } from '../../../core/downstream.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { SendContextStore } from '../../../storage/stores/messages/send-context-store.ts'

type Deps = {
  downstream: Pick<Downstream, 'helpdesk'>
  store: Pick<SendContextStore, 'acceptedAmong'>
  clock: Pick<Clock, 'now'>
}

type Conversation = { destination: Destination; conversationId: number }

type Range = { afterId: number | null; beforeId: number }

// The callback of an older message was lost, or the webhook was set later.
const recentMs = 3_600_000

export class MissingCallbacks {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** One request: the recent messages that nothing is known of yet, before `beforeId` and after it. */
  async ask({ destination, conversationId }: Conversation, range: Range): Promise<number[]> {
    const { downstream, clock } = this.#deps
    const messages = await downstream.helpdesk(destination).outgoingMessages(conversationId, range)
    const since = clock.now() - recentMs
    return messages.filter(({ createdAt }) => createdAt > since).map(({ id }) => id)
  }

  /** The messages that no process has accepted. This process does not know the callbacks that the process before it got. */
  async unaccepted({ destination }: Conversation, ids: readonly number[]): Promise<number[]> {
    if (ids.length === 0) return []
    const accepted = new Set(await this.#deps.store.acceptedAmong(destination.key, ids))
    return ids.filter((id) => !accepted.has(id))
  }
}
