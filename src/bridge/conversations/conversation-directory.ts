// Where at the helpdesk the messages of a chat go: finds or makes its contact and its conversation, and remembers them.

import type { PerInstance } from '../../core/per-instance.ts'
import type { ContactSpec, HelpdeskInbox } from '../../core/downstream.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { KeyedLanes } from '../../lib/keyed-lanes.ts'
import type { ContactStore, ConversationKey, KnownConversation } from '../../storage/stores/people/contact-store.ts'
import type { ContactMerger } from './contact-merger.ts'
import type { ConversationOpener, HelpdeskTarget } from './conversation-opener.ts'

/** A chat as the helpdesk knows it, and how its contact is described when it must be found or created. */
export type ChatContact = {
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
  merger: ContactMerger
  opener: ConversationOpener
  epoch: () => number
  clock: Clock
  log: Log
  mode: 'new' | 'reopen'
}

const maxRemembered = 20_000
const rememberedMs = 3_600_000
/**
 * Within a burst a conversation is not looked at again. An agent may have resolved it any longer ago; where that does not
 * matter, it may still have been deleted, or be another one since the helpdesk was restored.
 */
const trustedMs = { new: 5_000, reopen: 60_000 }

export class ConversationDirectory implements PerInstance {
  readonly #deps: Deps
  readonly #entries: BoundedMap<Entry>
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#entries = new BoundedMap({ clock: deps.clock, max: maxRemembered, ttlMs: rememberedMs })
  }

  /** The conversation that new messages of this chat belong into. */
  async conversationFor(chat: ChatContact, desk: HelpdeskTarget): Promise<OpenConversation> {
    const place = placeOf(chat, desk)
    const entry = this.#entries.get(keyOf(place))
    if (entry && this.#isTrusted(entry) && !entry.isNameless && entry.joinedLid === chat.formerLid) return entry.open
    return this.#lanes.run(keyOf(place), () => this.#find(chat, place, desk))
  }

  /** The conversation the chat is held in already; what is missing when there is none. */
  async existing(chat: ChatContact, desk: HelpdeskTarget): Promise<OpenConversation | 'no_contact' | 'no_conv'> {
    const current = await this.#current(chat, placeOf(chat, desk), desk)
    if (current) return current
    const { sourceId, formerSourceIds } = await chat.describe()
    const contacts = await this.#deps.store.findContacts(desk.destination.key, [sourceId, ...formerSourceIds])
    return contacts.length > 0 ? 'no_conv' : 'no_contact'
  }

  /** That conversation of this chat, which need not be the current one; null when nothing more belongs into it. */
  async earlier(
    conversationId: number,
    { chat, mayReopen }: { chat: ChatContact; mayReopen: boolean },
    desk: HelpdeskTarget,
  ): Promise<OpenConversation | null> {
    const { store, mode } = this.#deps
    const place = placeOf(chat, desk)
    const entry = this.#entries.get(keyOf(place))
    const isCurrent = entry?.open.id === conversationId
    if (isCurrent && this.#isTrusted(entry)) return entry.open
    const known = entry?.known ?? (await store.findConversation(place))
    const found = known && (await this.#look({ ...known, conversationId }, desk))
    if (!found || (found.status === 'resolved' && mode === 'new' && !mayReopen)) return null
    return isCurrent ? entry.open : { id: conversationId, newest: found.newestMessageId ?? 0 }
  }

  /** The conversation is gone: the next message finds or opens another one. */
  async forget({ instance, chat }: Pick<ChatContact, 'instance' | 'chat'>, destination: string): Promise<void> {
    const place = { instance, chat, destination }
    this.#entries.delete(keyOf(place))
    await this.#deps.store.dropConversation(this.#deps.epoch(), place)
  }

  /** Gives our contact another name; best effort, agents may have named theirs as they like. */
  async rename(chat: ChatContact, name: string, destination: string, inbox: HelpdeskInbox): Promise<void> {
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

  /** Chats of this instance were joined or dropped: what is remembered of them may be wrong. */
  clear(instance: string): void {
    this.#entries.deleteWhere((key) => key.startsWith(`${instance}|`))
  }

  leave(instance: string): void {
    this.clear(instance)
  }

  #isTrusted({ checkedAt }: Entry): boolean {
    return this.#deps.clock.monotonic() - checkedAt < trustedMs[this.#deps.mode]
  }

  /** Null when it is gone, or its id is that of somebody else's by now. */
  async #look({ conversationId, contactId }: KnownConversation, { destination, helpdesk: inbox }: HelpdeskTarget) {
    const found = await inbox.findConversation(conversationId)
    if (!found) return null
    const isOurs = found.inboxId === destination.inboxId && [null, contactId].includes(found.contactId)
    if (isOurs) return found
    this.#deps.log.warn(
      { destination: destination.key, conversation: conversationId },
      'a conversation is no longer with the same contact; the right one is looked for',
    )
    return null
  }

  async #find(chat: ChatContact, place: ConversationKey, desk: HelpdeskTarget): Promise<OpenConversation> {
    const entry = this.#entries.get(keyOf(place))
    if (entry?.isNameless) await this.#name(entry, chat, desk)
    if (entry?.joinedLid !== chat.formerLid) await this.#join(entry, chat, desk)
    const current = await this.#current(chat, place, desk)
    if (current) return current
    const { known, newest } = await this.#deps.opener.open(place, await chat.describe(), desk)
    return (await this.#remember(chat, place, known, newest)).open
  }

  /** The one used last, unless it is gone or resolved for good. */
  async #current(
    chat: ChatContact,
    place: ConversationKey,
    desk: HelpdeskTarget,
  ): Promise<OpenConversation | undefined> {
    const { store, clock, mode } = this.#deps
    const entry = this.#entries.get(keyOf(place))
    if (entry && this.#isTrusted(entry)) return entry.open
    const known = entry?.known ?? (await store.findConversation(place))
    const found = known && (await this.#look(known, desk))
    if (!known || !found || (found.status === 'resolved' && mode === 'new')) return undefined
    if (!entry) return (await this.#remember(chat, place, known, found.newestMessageId ?? 0)).open
    entry.checkedAt = clock.monotonic()
    entry.open.newest = Math.max(entry.open.newest, found.newestMessageId ?? 0)
    return entry.open
  }

  async #name(entry: Entry, chat: ChatContact, { destination, helpdesk: inbox }: HelpdeskTarget): Promise<void> {
    const { name } = await chat.describe()
    if (name === chat.fallbackName) return
    entry.isNameless = false
    await this.rename(chat, name, destination.key, inbox)
  }

  async #join(
    entry: Entry | undefined,
    chat: ChatContact,
    { destination, helpdesk: inbox }: HelpdeskTarget,
  ): Promise<void> {
    const { formerLid } = chat
    if (formerLid !== null) await this.#deps.merger.join(await chat.describe(), formerLid, destination, inbox)
    if (entry) entry.joinedLid = formerLid
  }

  async #remember(chat: ChatContact, place: ConversationKey, known: KnownConversation, newest: number) {
    const { store, clock } = this.#deps
    const [contact] = await store.findContacts(place.destination, [known.sourceId])
    const isNameless = contact?.ours === true && contact.name === chat.fallbackName
    const open = { id: known.conversationId, newest }
    const entry: Entry = { known, open, checkedAt: clock.monotonic(), isNameless, joinedLid: chat.formerLid }
    this.#entries.set(keyOf(place), entry)
    return entry
  }
}

function placeOf({ instance, chat }: ChatContact, { destination }: HelpdeskTarget): ConversationKey {
  return { instance, chat, destination: destination.key }
}

function keyOf({ instance, destination, chat }: ConversationKey): string {
  return `${instance}|${destination}|${chat}`
}
