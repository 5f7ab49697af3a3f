// Finds or makes the contact and the conversation of a chat.
//
// Opens at most one conversation with a contact, whatever becomes of the answer and of this process: that one is being
// opened is stored before, and until it cannot come any more it is looked for instead of opening another one.

import { DownstreamError } from '../../core/downstream.ts'
import type { Contact, ContactSpec, Conversation, Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/keyed-lanes.ts'
import type { ContactStore, ConversationKey, KnownConversation } from '../../storage/stores/people/contact-store.ts'

type Deps = {
  store: ContactStore
  epoch: () => number
  clock: Clock
  mode: 'new' | 'reopen'
  /** Only for tests, which show what the wait is good for. */
  lateCommitMs?: number
}

/** A helpdesk that is asked for something. */
export type HelpdeskTarget = {
  destination: Destination
  helpdesk: HelpdeskInbox
  /** Told what is being asked for, so that a failure can be counted as what it is. */
  onStep: (step: 'contact' | 'conversation') => void
}

type Opening = {
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
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async open(place: ConversationKey, spec: ContactSpec, desk: HelpdeskTarget) {
    desk.onStep('contact')
    const contact = await desk.helpdesk.ensureContact(spec)
    desk.onStep('conversation')
    // Accounts that share an inbox may have the same group or customer: each must see what the others hold already.
    const key = `${desk.destination.key}|${contact.sourceId}`
    return this.#lanes.run(key, () => this.#openWith(contact, spec, place, desk.helpdesk))
  }

  async #openWith(contact: Contact, spec: ContactSpec, place: ConversationKey, inbox: HelpdeskInbox) {
    const { store, epoch, clock } = this.#deps
    const { destination } = place
    const openingSince = await this.#saveContact(destination, contact, spec)
    const others = await store.conversationsOfOthers(place, contact.sourceId)
    const { id, newestMessageId } = await this.#ensure({ contact, destination, others, openingSince }, inbox)
    const known: KnownConversation = { conversationId: id, contactId: contact.id, sourceId: contact.sourceId }
    await store.saveConversation(epoch(), place, known, clock.now())
    return { known, newest: newestMessageId ?? 0 }
  }

  /** Since when a conversation with it is being opened. */
  async #saveContact(destination: string, contact: Contact, spec: ContactSpec): Promise<number | null> {
    const { store, epoch } = this.#deps
    const [known] = await store.findContacts(destination, [contact.sourceId])
    const ours = contact.created || (known?.contactId === contact.id && known.ours)
    const name = contact.created ? spec.name : contact.name
    await store.saveContact(epoch(), destination, { sourceId: contact.sourceId, contactId: contact.id, ours, name })
    return known?.openingSince ?? null
  }

  async #ensure({ contact, destination, others, openingSince }: Opening, inbox: HelpdeskInbox): Promise<Conversation> {
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
