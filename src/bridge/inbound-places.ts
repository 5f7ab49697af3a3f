// Where at the helpdesk the messages of a chat go: finds or makes its contact and its conversation, and remembers them.

import type { Contact, ContactSpec, Destination, HelpdeskInbox } from '../core/downstream.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { KeyedLanes } from '../lib/keyed-lanes.ts'
import type { ContactStore, ConversationPlace, KnownConversation } from '../storage/contact-store.ts'
import type { ContactJoiner } from './contact-joiner.ts'
import type { ConversationOpener } from './conversation-opener.ts'

/** A chat as the helpdesk knows it, and how its contact is described when it must be found or created. */
export type ChatPlace = {
  instance: string
  /** A group's jid, or the id of a person. */
  chat: string
  describe: () => Promise<ContactSpec>
  /** What its contact is called as long as no name is known. */
  fallbackName: string
  /** The anonymous id under which the same person may have been known before. */
  formerLid: string | null
}

export type OpenConversation = {
  id: number
  /** The newest message id known there; grows with every answer. */
  newest: number
}

type Entry = {
  known: KnownConversation
  open: OpenConversation
  checkedAt: number
  /** Our contact still has the name it got for want of a better one. */
  isNameless: boolean
  /** The anonymous id whose contact has been joined with this one. */
  joinedLid: string | null
}
type Deps = {
  store: ContactStore
  joiner: ContactJoiner
  opener: ConversationOpener
  epoch: () => number
  clock: Clock
  log: Log
  mode: 'new' | 'reopen'
}

const maxRemembered = 20_000
const rememberedMs = 3_600_000
/** Within a burst a conversation is not looked at again; an agent may have resolved it any longer ago. */
const trustedMs = 5_000

export class InboundPlaces {
  readonly #deps: Deps
  readonly #entries: BoundedMap<Entry>
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#entries = new BoundedMap({ clock: deps.clock, max: maxRemembered, ttlMs: rememberedMs })
  }

  /** The conversation that new messages of this chat belong into. */
  async conversationFor(chat: ChatPlace, destination: Destination, inbox: HelpdeskInbox): Promise<OpenConversation> {
    const place = placeOf(chat, destination)
    const entry = this.#entries.get(keyOf(place))
    if (entry && this.#isTrusted(entry) && !entry.isNameless && entry.joinedLid === chat.formerLid) return entry.open
    return this.#lanes.run(keyOf(place), () => this.#find(chat, place, destination, inbox))
  }

  /** The conversation the chat is held in already; what is missing when there is none. */
  async existing(
    chat: ChatPlace,
    destination: Destination,
    inbox: HelpdeskInbox,
  ): Promise<OpenConversation | 'no_contact' | 'no_conv'> {
    const place = placeOf(chat, destination)
    const entry = this.#entries.get(keyOf(place))
    if (entry) return entry.open
    const known = await this.#deps.store.findConversation(place)
    if (known) {
      const found = await inbox.findConversation(known.conversationId)
      if (found) return (await this.#remember(chat, place, known, found.newestMessageId ?? 0)).open
    }
    const { sourceId, formerSourceIds } = await chat.describe()
    const contacts = await this.#deps.store.findContacts(destination.key, [sourceId, ...formerSourceIds])
    return contacts.length > 0 ? 'no_conv' : 'no_contact'
  }

  /** The conversation is gone: the next message finds or opens another one. */
  async forget({ instance, chat }: Pick<ChatPlace, 'instance' | 'chat'>, destination: string): Promise<void> {
    const place = { instance, chat, destination }
    this.#entries.delete(keyOf(place))
    await this.#deps.store.dropConversation(this.#deps.epoch(), place)
  }

  /** Gives our contact another name; best effort, agents may have named theirs as they like. */
  async rename(chat: ChatPlace, name: string, destination: string, inbox: HelpdeskInbox): Promise<void> {
    const { store, epoch, log } = this.#deps
    const known = await store.findConversation({ instance: chat.instance, chat: chat.chat, destination })
    const [contact] = known ? await store.findContacts(destination, [known.sourceId]) : []
    if (!contact?.ours || contact.name === name) return
    try {
      await inbox.updateContact(contact.contactId, { name })
      await store.saveContact(epoch(), destination, { ...contact, name })
    } catch (err) {
      log.warn({ err, instance: chat.instance }, 'a contact keeps its old name for now')
    }
  }

  /** Chats were joined or dropped: what is remembered may be wrong. */
  clear(): void {
    this.#entries.clear()
  }

  // In the mode "reopen" it does not matter whether somebody has resolved it meanwhile.
  #isTrusted({ checkedAt }: Entry): boolean {
    return this.#deps.mode === 'reopen' || this.#deps.clock.monotonic() - checkedAt < trustedMs
  }

  async #find(chat: ChatPlace, place: ConversationPlace, destination: Destination, inbox: HelpdeskInbox) {
    const { store, clock, mode } = this.#deps
    const entry = this.#entries.get(keyOf(place))
    if (entry?.isNameless) await this.#name(entry, chat, destination.key, inbox)
    if (entry?.joinedLid !== chat.formerLid) await this.#join(entry, chat, destination, inbox)
    if (entry && this.#isTrusted(entry)) return entry.open
    const known = entry?.known ?? (await store.findConversation(place))
    const found = known && (await inbox.findConversation(known.conversationId))
    if (known && found && (found.status !== 'resolved' || mode === 'reopen')) {
      if (!entry) return (await this.#remember(chat, place, known, found.newestMessageId ?? 0)).open
      entry.checkedAt = clock.monotonic()
      entry.open.newest = Math.max(entry.open.newest, found.newestMessageId ?? 0)
      return entry.open
    }
    return this.#open(chat, place, destination, inbox)
  }

  async #open(chat: ChatPlace, place: ConversationPlace, destination: Destination, inbox: HelpdeskInbox) {
    const spec = await chat.describe()
    const contact = await inbox.ensureContact(spec)
    // Accounts that share an inbox may have the same group or customer: each must see what the others hold already.
    const key = `contact|${destination.key}|${contact.sourceId}`
    return this.#lanes.run(key, () => this.#openWith({ spec, contact }, chat, place, destination, inbox))
  }

  async #openWith(
    { spec, contact }: { spec: ContactSpec; contact: Contact },
    chat: ChatPlace,
    place: ConversationPlace,
    destination: Destination,
    inbox: HelpdeskInbox,
  ) {
    const { store, epoch, clock, opener } = this.#deps
    const openingSince = await this.#saveContact(destination.key, contact, spec)
    const others = await store.conversationsOfOthers(place, contact.sourceId)
    const opening = { contact, destination: destination.key, others, openingSince }
    const { id, newestMessageId } = await opener.open(opening, inbox)
    const known = { conversationId: id, contactId: contact.id, sourceId: contact.sourceId }
    await store.saveConversation(epoch(), place, known, clock.now())
    return (await this.#remember(chat, place, known, newestMessageId ?? 0)).open
  }

  async #name(entry: Entry, chat: ChatPlace, destination: string, inbox: HelpdeskInbox): Promise<void> {
    const { name } = await chat.describe()
    if (name === chat.fallbackName) return
    entry.isNameless = false
    await this.rename(chat, name, destination, inbox)
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

  async #join(entry: Entry | undefined, chat: ChatPlace, destination: Destination, inbox: HelpdeskInbox) {
    const { formerLid } = chat
    if (formerLid !== null) await this.#deps.joiner.join(await chat.describe(), formerLid, destination, inbox)
    if (entry) entry.joinedLid = formerLid
  }

  async #remember(chat: ChatPlace, place: ConversationPlace, known: KnownConversation, newest: number) {
    const { store, clock } = this.#deps
    const [contact] = await store.findContacts(place.destination, [known.sourceId])
    const isNameless = contact?.ours === true && contact.name === chat.fallbackName
    const open = { id: known.conversationId, newest }
    const entry: Entry = { known, open, checkedAt: clock.monotonic(), isNameless, joinedLid: chat.formerLid }
    this.#entries.set(keyOf(place), entry)
    return entry
  }
}

function placeOf({ instance, chat }: ChatPlace, destination: Destination): ConversationPlace {
  return { instance, chat, destination: destination.key }
}

function keyOf({ instance, destination, chat }: ConversationPlace): string {
  return `${instance}|${destination}|${chat}`
}
