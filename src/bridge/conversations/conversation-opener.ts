// Finds or creates the contact and the conversation of a chat.
//
// Never opens two conversations for one contact. Before the POST we store that a conversation is being opened. If the answer
// is lost, we search for that conversation for as long as the helpdesk may still create it (20 s for Chatwoot). Only then do
// we create another one.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import { DownstreamError } from '../../core/downstream.ts'
import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { Contact, ContactSpec } from '../../core/helpdesk/contact.ts'
import type { Conversation } from '../../core/helpdesk/conversation.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import type { ContactStore, ConversationKey, KnownConversation } from '../../storage/stores/people/contact-store.ts'
import type { MergeGate } from './merge-gate.ts'

type Deps = {
  store: ContactStore
  gate: Pick<MergeGate, 'withContact'>
  holdOf: HoldOf
  clock: Clock
  settingsOf: SettingsOf
  /** How long after a lost answer the helpdesk may still create the conversation. */
  lateCommitMs: number
}

/** The helpdesk that one attempt talks to. */
export type HelpdeskTarget = {
  /** The instance for which the helpdesk is asked. */
  instance: InstanceName
  destination: Destination
  helpdesk: HelpdeskInbox
  /** Called with what the next request is about, so that a failure is counted as what it is. */
  onStep: (step: 'contact' | 'conversation') => void
}

type ContactTarget = Pick<HelpdeskTarget, 'instance' | 'destination'> & {
  helpdesk: Pick<HelpdeskInbox, 'ensureContact'>
}

/** The instance for which something is stored, and the destination that it is stored about. */
type Place = { instance: InstanceName; destination: DestinationKey }

type Opening = {
  contact: Contact
  place: Place
  /** When we began to open a conversation whose outcome we do not know. */
  openingSince: number | null
}

const lookAgainMs = 2000

/** The contact has a conversation that is not the one to open. */
class HasConversation extends Error {}

export class ConversationOpener {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  open(key: ConversationKey, spec: ContactSpec, { destination, helpdesk, onStep }: HelpdeskTarget) {
    const find = () => {
      onStep('contact')
      return helpdesk.ensureContact(spec)
    }
    return this.#deps.gate.withContact(destination.key, find, (contact) => {
      onStep('conversation')
      // Accounts that share a helpdesk inbox may have the same group or customer. In a lane each of them sees the
      // conversations that the others have opened.
      const lane = `${destination.key}|${contact.sourceId}`
      return this.#lanes.run(lane, () => this.#openWith(contact, spec, key, helpdesk))
    })
  }

  /**
   * A pending conversation for the history of a chat that has no conversation yet. Null when the contact has one already. The
   * mark names the conversation, so that it is found after a lost answer.
   */
  openPending(key: ConversationKey, spec: ContactSpec, mark: string, { destination, helpdesk }: HelpdeskTarget) {
    const find = () => helpdesk.ensureContact(spec)
    return this.#deps.gate.withContact(destination.key, find, (contact) => {
      const lane = `${destination.key}|${contact.sourceId}`
      return this.#lanes.run(lane, () => this.#openPendingWith(contact, spec, { key, mark }, helpdesk))
    })
  }

  /** The contact of a chat. It is stored, so that later names reach it. */
  contactOf(spec: ContactSpec, target: ContactTarget): Promise<Contact> {
    return this.withContact(spec, target, (contact) => Promise.resolve(contact))
  }

  /** Gives the contact of a chat a conversation. The contact is stored, so that later names reach it. */
  withContact<T>(
    spec: ContactSpec,
    { instance, destination, helpdesk }: ContactTarget,
    work: (contact: Contact) => Promise<T>,
  ): Promise<T> {
    const find = () => helpdesk.ensureContact(spec)
    return this.#deps.gate.withContact(destination.key, find, async (contact) => {
      await this.#saveContact({ instance, destination: destination.key }, contact, spec)
      return work(contact)
    })
  }

  async #openPendingWith(
    contact: Contact,
    spec: ContactSpec,
    { key, mark }: { key: ConversationKey; mark: string },
    helpdesk: HelpdeskInbox,
  ) {
    const openingSince = await this.#saveContact(key, contact, spec)
    const others = await this.#deps.store.excludedConversations(key, contact.sourceId)
    const listed = contact.created ? [] : await helpdesk.conversationsSince(contact, 0)
    const isTaken = listed.some((id) => !others.includes(id))
    const opening = { contact, place: key, openingSince }
    try {
      const { id, newestMessageId, isOwn } = await this.#create(opening, (begin) => {
        const beforeCreation = () => (isTaken ? Promise.reject(new HasConversation()) : begin())
        return helpdesk.createPending({ contact, mark, isHistory: false, beforeCreation })
      })
      return isOwn ? await this.#save(key, contact, id, newestMessageId) : null
    } catch (error) {
      if (error instanceof HasConversation) return null
      throw error
    }
  }

  async #openWith(contact: Contact, spec: ContactSpec, key: ConversationKey, helpdesk: HelpdeskInbox) {
    const { store, settingsOf } = this.#deps
    const { conversationMode, newConversationStatus: status } = settingsOf(key.instance)
    const openingSince = await this.#saveContact(key, contact, spec)
    const others = await store.excludedConversations(key, contact.sourceId)
    const { id, newestMessageId } = await this.#create({ contact, place: key, openingSince }, (beforeCreation) =>
      helpdesk.ensureConversation(contact, conversationMode, { except: others, status, beforeCreation }),
    )
    return this.#save(key, contact, id, newestMessageId)
  }

  async #save(key: ConversationKey, contact: Contact, conversationId: number, newest: number | null) {
    const { store, holdOf, clock } = this.#deps
    const known: KnownConversation = { conversationId, contactId: contact.id, sourceId: contact.sourceId }
    await store.saveConversation(holdOf(key.instance), key, known, clock.now())
    return { known, newest: newest ?? 0 }
  }

  /** Returns since when a conversation with the contact is being opened. */
  async #saveContact({ instance, destination }: Place, contact: Contact, spec: ContactSpec): Promise<number | null> {
    const { store, holdOf } = this.#deps
    const [known] = await store.findContacts(destination, [contact.sourceId])
    const ours = contact.created || (known?.contactId === contact.id && known.ours)
    const name = contact.created ? spec.name : contact.name
    const saved = { sourceId: contact.sourceId, contactId: contact.id, ours, name }
    await store.saveContact(holdOf(instance), destination, contact.created ? { ...saved, givenName: name } : saved)
    return known?.openingSince ?? null
  }

  /** `request` finds or creates a conversation, and awaits what it is given before a creation. */
  async #create<Found extends Conversation>(
    { contact, place, openingSince }: Opening,
    request: (beforeCreation: () => Promise<void>) => Promise<Found>,
  ): Promise<Found> {
    const { store, holdOf, clock } = this.#deps
    const creation = { begun: false }
    const { instance, destination } = place
    const note = (since: number | null) => store.noteOpening(holdOf(instance), destination, contact.sourceId, since)
    const begin = async () => {
      this.#refuseWhileUncertain(openingSince)
      await note(clock.now())
      creation.begun = true
    }
    try {
      return await request(begin)
    } catch (error) {
      const mayHaveHappened = error instanceof DownstreamError && error.mayHaveHappened
      if (creation.begun && !mayHaveHappened) await note(null)
      throw error
    }
  }

  #refuseWhileUncertain(since: number | null): void {
    const { clock, lateCommitMs } = this.#deps
    const passedMs = since === null ? Infinity : clock.now() - since
    // A time in the future was written before the clock was set back.
    if (passedMs < 0 || passedMs >= lateCommitMs) return
    const reason = 'a conversation was being opened a moment ago: looking for it before opening another one'
    throw new DownstreamError('transient', reason, { retryAfterMs: lookAgainMs })
  }
}
