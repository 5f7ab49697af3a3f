// Opens at most one conversation with a contact, whatever becomes of the answer and of this process: that one is being
// opened is stored before, and until it cannot come any more it is looked for instead of opening another one.

import { DownstreamError } from '../core/downstream.ts'
import type { Contact, Conversation, HelpdeskInbox } from '../core/downstream.ts'
import type { Clock } from '../lib/clock.ts'
import type { ContactStore } from '../storage/contact-store.ts'

type Deps = {
  store: Pick<ContactStore, 'noteOpening'>
  epoch: () => number
  clock: Clock
  mode: 'new' | 'reopen'
  /** Only for tests, which show what the wait is good for. */
  lateCommitMs?: number
}

export type Opening = {
  contact: Contact
  destination: string
  /** Conversations of other accounts with the same contact. */
  others: readonly number[]
  /** When one was begun whose outcome is not known. */
  openingSince: number | null
}

/** Chatwoot may commit up to 15 s after a request began. */
const standardLateCommitMs = 20_000
const lookAgainMs = 2000

export class ConversationOpener {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async open({ contact, destination, others, openingSince }: Opening, inbox: HelpdeskInbox): Promise<Conversation> {
    const { store, epoch, clock, mode } = this.#deps
    const creation = { begun: false }
    const begin = async () => {
      this.#refuseWhileUncertain(openingSince)
      await store.noteOpening(epoch(), destination, contact.sourceId, clock.now())
      creation.begun = true
    }
    try {
      return await inbox.ensureConversation(contact, mode, others, begin)
    } catch (error) {
      const mayHaveHappened = error instanceof DownstreamError && error.mayHaveHappened
      if (creation.begun && !mayHaveHappened) await store.noteOpening(epoch(), destination, contact.sourceId, null)
      throw error
    }
  }

  #refuseWhileUncertain(since: number | null): void {
    const { clock, lateCommitMs = standardLateCommitMs } = this.#deps
    const passedMs = since === null ? Infinity : clock.now() - since
    // A time to come was written by a clock that has been set back since.
    if (passedMs < 0 || passedMs >= lateCommitMs) return
    const reason = 'a conversation was being opened a moment ago: looking for it before opening another one'
    throw new DownstreamError('transient', reason, { retryAfterMs: lookAgainMs })
  }
}
