// Says into which conversation the messages of a chat go. Finds or creates the contact and the conversation of the chat at
// the helpdesk, and remembers both.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { ContactSpec } from '../../core/helpdesk/contact.ts'
import type { ChatId, DestinationKey, InstanceName } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import type { ContactStore, ConversationKey, KnownConversation } from '../../storage/stores/people/contact-store.ts'
import type { ContactMerger } from './contact-merger.ts'
import { isSameName } from './contact-names.ts'
import type { ContactNames } from './contact-names.ts'
import { ConversationMemory, conversationText } from './conversation-memory.ts'
import type { ChatConversation, OpenConversation, RememberedConversation } from './conversation-memory.ts'
import type { ConversationOpener, HelpdeskTarget } from './conversation-opener.ts'
import type { LostCallbacks } from './lost-callbacks.ts'

/** A chat and the contact that stands for it at the helpdesk. */
export type ChatContact = {
  instance: InstanceName
  chatId: ChatId
  /** How the contact is found or created. */
  describe: () => Promise<ContactSpec>
  /** The name of the contact while no better name is known. */
  fallbackName: string
  /** The anonymous id under which the same person may have a second contact. */
  formerLid: string | null
  /** The phone numbers that the person had before. */
  formerPhones: readonly string[]
}

type Deps = {
  store: ContactStore
  merger: Pick<ContactMerger, 'merge'>
  opener: Pick<ConversationOpener, 'open'>
  names: Pick<ContactNames, 'find' | 'rename'>
  callbacks: Pick<LostCallbacks, 'noteSign'>
  holdOf: HoldOf
  clock: Clock
  log: Log
  settingsOf: SettingsOf
}

type OutdatedListener = (chat: ChatContact) => void
type KnownListener = (chat: ChatContact) => void

export class ConversationDirectory implements PerInstance {
  readonly #deps: Deps
  readonly #memory: ConversationMemory
  readonly #lanes = new KeyedLanes()
  readonly #outdatedListeners: OutdatedListener[] = []
  readonly #knownListeners: KnownListener[] = []

  constructor(deps: Deps) {
    this.#deps = deps
    this.#memory = new ConversationMemory(deps)
  }

  /** The listener is called when the contact of a chat seems to have an old name. It must return quickly. */
  onOutdatedName(listener: OutdatedListener): void {
    this.#outdatedListeners.push(listener)
  }

  /** The listener is called when the chat has another conversation, or when the conversation is looked up again after a while. */
  onKnown(listener: KnownListener): void {
    this.#knownListeners.push(listener)
  }

  /**
   * The conversation for new messages of this chat. `mayOpen` is asked before a contact or a conversation is made. Null when
   * one would have to be made and may not.
   */
  async conversationFor(
    chat: ChatContact,
    target: HelpdeskTarget,
    mayOpen: () => Promise<boolean>,
  ): Promise<OpenConversation | null> {
    const key = conversationKey(chat, target)
    const entry = this.#memory.get(key)
    if (entry && this.#memory.isTrusted(entry, key) && entry.merged === formerOf(chat)) return entry.open
    return this.#lanes.run(conversationText(key), () => this.#find(chat, key, target, mayOpen))
  }

  /** The conversation that the chat has already, or what is missing. */
  async existing(chat: ChatContact, target: HelpdeskTarget): Promise<ChatConversation | 'no_contact' | 'no_conv'> {
    const current = await this.#current(chat, conversationKey(chat, target), target)
    if (current) return current
    const { sourceId, formerSourceIds } = await chat.describe()
    const contacts = await this.#deps.store.findContacts(target.destination.key, [sourceId, ...formerSourceIds])
    return contacts.length > 0 ? 'no_conv' : 'no_contact'
  }

  /** That conversation of the chat, which may be an older one; null when nothing may be added to it any more. */
  async earlier(
    conversationId: number,
    { chat, mayReopen }: { chat: ChatContact; mayReopen: boolean },
    target: HelpdeskTarget,
  ): Promise<OpenConversation | null> {
    const { store } = this.#deps
    const key = conversationKey(chat, target)
    const entry = this.#memory.get(key)
    const isCurrent = entry?.open.id === conversationId
    if (isCurrent && this.#memory.isTrusted(entry, key)) return entry.open
    const known = entry?.known ?? (await store.findConversation(key))
    const found = known && (await this.#look({ ...known, conversationId }, target))
    // What is new does not go into a conversation that holds only history.
    if (!found || found.isHistory || (found.status === 'resolved' && !this.#reopens(key) && !mayReopen)) return null
    return isCurrent ? entry.open : { id: conversationId, newest: found.newestMessageId ?? 0 }
  }

  /** Takes over a conversation that the helpdesk has. False when the chat has a conversation already. */
  adopt(
    { instance, chatId }: Pick<ChatContact, 'instance' | 'chatId'>,
    destination: DestinationKey,
    known: KnownConversation,
  ): Promise<boolean> {
    const { store, holdOf, clock } = this.#deps
    const key = { instance, chat: chatId, destination }
    return this.#lanes.run(conversationText(key), async () => {
      if (await store.findConversation(key)) return false
      await store.saveConversation(holdOf(instance), key, known, clock.now())
      return true
    })
  }

  /** The conversation is gone: the next message finds or opens another one. */
  async forget(
    { instance, chatId }: Pick<ChatContact, 'instance' | 'chatId'>,
    destination: DestinationKey,
  ): Promise<void> {
    const key = { instance, chat: chatId, destination }
    this.#memory.delete(key)
    await this.#deps.store.dropConversation(this.#deps.holdOf(instance), key)
  }

  /** Gives the contact of a group another name, if we named the contact. A failure is only logged. */
  async renameGroup(chat: ChatContact, name: string, target: HelpdeskTarget): Promise<void> {
    const { store, names, log } = this.#deps
    const known = await store.findConversation(conversationKey(chat, target))
    if (!known) return
    const { ours } = await names.find(target.destination.key, [known.sourceId], () => true)
    try {
      for (const contact of ours) await names.rename(contact, name, target)
    } catch (err) {
      log.warn({ err, instance: chat.instance }, 'a contact keeps its old name for now')
    }
  }

  /**
   * The helpdesk said that the conversation was resolved. That may be old news, so the next message of every instance that uses
   * the conversation looks again.
   */
  mayBeResolved(destination: DestinationKey, conversationId: number): void {
    this.#memory.hearResolved(destination, conversationId)
  }

  /** Two chats of the instance became one: what is remembered of either may be wrong. */
  merged(instance: InstanceName): void {
    this.leave(instance)
  }

  /** The contact became part of another one, for all instances that talk with it. */
  contactJoined(destination: DestinationKey, contactId: number): void {
    this.#memory.deleteContact(destination, contactId)
  }

  leave(instance: InstanceName): void {
    this.#memory.deleteInstance(instance)
  }

  #reopens({ instance }: ConversationKey): boolean {
    return this.#deps.settingsOf(instance).conversationMode === 'reopen'
  }

  /** Null when the conversation is gone, or its id now belongs to the conversation of another contact. */
  async #look({ conversationId, contactId }: KnownConversation, { destination, helpdesk }: HelpdeskTarget) {
    const found = await helpdesk.findConversation(conversationId)
    if (!found) return null
    const isOurs = found.inboxId === destination.inboxId && [null, contactId].includes(found.contactId)
    if (isOurs && found.callbackSign) this.#deps.callbacks.noteSign(destination, found.callbackSign)
    if (isOurs) return found
    this.#deps.log.warn(
      { destination: destination.key, conversation: conversationId },
      'a conversation is no longer with the same contact; the right one is looked for',
    )
    return null
  }

  async #find(
    chat: ChatContact,
    key: ConversationKey,
    target: HelpdeskTarget,
    mayOpen: () => Promise<boolean>,
  ): Promise<OpenConversation | null> {
    const entry = this.#memory.get(key)
    if (entry?.merged !== formerOf(chat)) await this.#mergeContacts(entry, chat, target)
    const current = await this.#current(chat, key, target)
    if (current) return current
    if (!(await mayOpen())) return null
    const openedAt = this.#deps.clock.monotonic()
    const { known, newest } = await this.#deps.opener.open(key, await chat.describe(), target)
    return (await this.#remember(chat, key, known, newest, openedAt)).open
  }

  /** The conversation used last, unless it is gone or resolved for good. */
  async #current(
    chat: ChatContact,
    key: ConversationKey,
    target: HelpdeskTarget,
  ): Promise<ChatConversation | undefined> {
    const { store, clock } = this.#deps
    const entry = this.#memory.get(key)
    if (entry && this.#memory.isTrusted(entry, key)) return entry.open
    const known = entry?.known ?? (await store.findConversation(key))
    const lookedAt = clock.monotonic()
    const found = known && (await this.#look(known, target))
    if (!known || !found || found.isHistory || (found.status === 'resolved' && !this.#reopens(key))) return undefined
    if (!entry) return (await this.#remember(chat, key, known, found.newestMessageId ?? 0, lookedAt)).open
    entry.checkedAt = lookedAt
    entry.open.newest = Math.max(entry.open.newest, found.newestMessageId ?? 0)
    return entry.open
  }

  async #mergeContacts(
    entry: RememberedConversation | undefined,
    chat: ChatContact,
    target: HelpdeskTarget,
  ): Promise<void> {
    const { formerLid: lid, formerPhones: phones } = chat
    if (lid !== null) await this.#deps.merger.merge(await chat.describe(), { lid, phones }, target)
    if (entry) entry.merged = formerOf(chat)
  }

  async #remember(
    chat: ChatContact,
    key: ConversationKey,
    known: KnownConversation,
    newest: number,
    checkedAt: number,
  ): Promise<RememberedConversation> {
    const open = { id: known.conversationId, sourceId: known.sourceId, newest }
    const entry: RememberedConversation = { known, open, checkedAt, merged: formerOf(chat) }
    this.#memory.set(key, entry)
    for (const listener of this.#knownListeners) listener(chat)
    await this.#compareName(chat, key.destination, known.sourceId)
    return entry
  }

  /** A name can come while the contact is being created, or while the helpdesk is away. */
  async #compareName(chat: ChatContact, destination: DestinationKey, sourceId: string): Promise<void> {
    const [contact] = await this.#deps.store.findContacts(destination, [sourceId])
    if (!contact?.ours && contact?.givenName == null) return
    const { name } = await chat.describe()
    if (name === chat.fallbackName || isSameName(name, contact.givenName ?? contact.name)) return
    for (const listener of this.#outdatedListeners) listener(chat)
  }
}

function formerOf({ formerLid, formerPhones }: ChatContact): string {
  return [formerLid ?? '', ...formerPhones].join(' ')
}

function conversationKey({ instance, chatId }: ChatContact, { destination }: HelpdeskTarget): ConversationKey {
  return { instance, chat: chatId, destination: destination.key }
}
