// Finds or creates the contact and the conversation of a chat.
//
// Never opens two conversations for one contact and account. An account claims the opening before it searches for a conversation.
// If the answer to the POST is lost, we search for that conversation for as long as the helpdesk may still create it (20 s for
// Chatwoot). Only then do we create another one.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { Contact, ContactSpec } from '../../core/helpdesk/contact.ts'
import type { Conversation } from '../../core/helpdesk/conversation.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import type { ContactStore, ConversationKey, KnownConversation } from '../../storage/stores/people/contact-store.ts'
import type { MergeGate } from './merge-gate.ts'
import type { OpeningClaims } from './opening-claims.ts'

type Deps = {
  store: ContactStore
  claims: Pick<OpeningClaims, 'run'>
  gate: Pick<MergeGate, 'withContact'>
  holdOf: HoldOf
  clock: Pick<Clock, 'now'>
  settingsOf: SettingsOf
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
      return this.#ensureContact(spec, { destination, helpdesk })
    }
    return this.#deps.gate.withContact(destination.key, find, (contact) => {
      onStep('conversation')
      // Accounts that share a helpdesk inbox may have the same group or customer. In a lane each of them sees the
      // conversations that the others have opened. The claims do the same for accounts of other processes.
      const lane = `${destination.key}|${contact.sourceId}`
      return this.#lanes.run(lane, () => this.#openWith(contact, spec, key, helpdesk))
    })
  }

  /**
   * A pending conversation for the history of a chat that has no conversation yet. Null when the contact has one already. The
   * mark names the conversation, so that it is found after a lost answer.
   */
  openPending(key: ConversationKey, spec: ContactSpec, mark: string, { destination, helpdesk }: HelpdeskTarget) {
    const find = () => this.#ensureContact(spec, { destination, helpdesk })
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
    const find = () => this.#ensureContact(spec, { destination, helpdesk })
    return this.#deps.gate.withContact(destination.key, find, async (contact) => {
      await this.#saveContact({ instance, destination: destination.key }, contact, spec)
      return work(contact)
    })
  }

  async #ensureContact(
    spec: ContactSpec,
    { destination, helpdesk }: Omit<ContactTarget, 'instance'>,
  ): Promise<Contact> {
    const known = await this.#deps.store.findContacts(destination.key, [spec.sourceId, ...spec.formerSourceIds])
    return helpdesk.ensureContact(spec, { isKnown: known.length > 0 })
  }

  /**
   * Whether the contact has no conversation yet. Two accounts that need a new contact at once share the request that creates it,
   * and the other one may have opened a conversation since.
   */
  async #isFirst({ id, isNewHere }: Contact, { destination }: ConversationKey): Promise<boolean> {
    return isNewHere && (await this.#deps.store.conversationsOf(destination, id)).length === 0
  }

  async #openPendingWith(
    contact: Contact,
    spec: ContactSpec,
    { key, mark }: { key: ConversationKey; mark: string },
    helpdesk: HelpdeskInbox,
  ) {
    const { store, claims } = this.#deps
    await this.#saveContact(key, contact, spec)
    try {
      return await claims.run({ ...key, sourceId: contact.sourceId }, async (begin) => {
        const others = await store.excludedConversations(key, contact.sourceId)
        const listed = (await this.#isFirst(contact, key)) ? [] : await helpdesk.conversationsSince(contact, 0)
        const isTaken = listed.some((id) => !others.includes(id))
        const beforeCreation = () => (isTaken ? Promise.reject(new HasConversation()) : begin())
        const made = await helpdesk.createPending({ contact, mark, isHistory: false, beforeCreation })
        return made.isOwn ? this.#save(key, contact, made) : null
      })
    } catch (error) {
      if (error instanceof HasConversation) return null
      throw error
    }
  }

  async #openWith(contact: Contact, spec: ContactSpec, key: ConversationKey, helpdesk: HelpdeskInbox) {
    const { store, claims, settingsOf } = this.#deps
    const { conversationMode, newConversationStatus: status } = settingsOf(key.instance)
    await this.#saveContact(key, contact, spec)
    return claims.run({ ...key, sourceId: contact.sourceId }, async (beforeCreation) => {
      const except = await store.excludedConversations(key, contact.sourceId)
      const isFirst = await this.#isFirst(contact, key)
      const opening = { except, status, isFirst, beforeCreation }
      const found = await helpdesk.ensureConversation(contact, conversationMode, opening)
      return this.#save(key, contact, found)
    })
  }

  async #save(key: ConversationKey, contact: Contact, { id, newestMessageId }: Conversation) {
    const { store, holdOf, clock } = this.#deps
    const known: KnownConversation = { conversationId: id, contactId: contact.id, sourceId: contact.sourceId }
    await store.saveConversation(holdOf(key.instance), key, known, clock.now())
    return { known, newest: newestMessageId ?? 0 }
  }

  async #saveContact({ instance, destination }: Place, contact: Contact, spec: ContactSpec): Promise<void> {
    const { store, holdOf } = this.#deps
    const [known] = await store.findContacts(destination, [contact.sourceId])
    const ours = contact.created || (known?.contactId === contact.id && known.ours)
    const name = contact.created ? spec.name : contact.name
    const saved = { sourceId: contact.sourceId, contactId: contact.id, ours, name }
    await store.saveContact(holdOf(instance), destination, contact.created ? { ...saved, givenName: name } : saved)
  }
}
