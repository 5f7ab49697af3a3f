// Implements the helpdesk port for one inbox of a Chatwoot.

import { DownstreamError } from '../core/downstream.ts'
import type { AvatarFile, Contact, ContactSpec, ContactsPage } from '../core/helpdesk/contact.ts'
import type { ListedContact, ShownContact } from '../core/helpdesk/contact.ts'
import type { Conversation, ConversationsPage, ConversationStatus } from '../core/helpdesk/conversation.ts'
import type { ImportConversation, Opening, PendingSpec } from '../core/helpdesk/conversation.ts'
import type { HelpdeskInbox } from '../core/downstream.ts'
import type { MessagesPage, MessageStatus, NewlyPosted, NewMessage } from '../core/helpdesk/message.ts'
import type { OutgoingMessage, PostedMessage } from '../core/helpdesk/message.ts'
import type { BoundedMap } from '../lib/bounded-map.ts'
import type { SingleFlight } from '../lib/queues/single-flight.ts'
import { anything } from './chatwoot-calls.ts'
import type { ChatwootClient } from './chatwoot-client.ts'
import { readConversation, readMessage, readMessages, readOutgoing, readShownContact } from './chatwoot-json.ts'
import { readTitles } from './account-json.ts'
import { addAddress, contactFields, ensureContact } from './contact-finder.ts'
import { removeAvatar, setAvatar } from './contacts/contact-pictures.ts'
import { contactsPage, describeContact } from './contacts/list-contacts.ts'
import { ensureConversation } from './conversations/conversation-finder.ts'
import { listInbox, listMessagesFrom } from './conversations/list-inbox.ts'
import { conversationsSince, toConversation } from './conversations/list-conversations.ts'
import { listSourceIds } from './conversations/list-source-ids.ts'
import { createPending } from './conversations/pending-conversation.ts'
import { encodeMessage } from './encode-message.ts'
import { readSurveyLink } from './survey-text.ts'

type Deps = { client: ChatwootClient; flights: SingleFlight; uncertain: BoundedMap<true> }

const pageOfMessages = 100
const maxReason = 500

export class ChatwootInbox implements HelpdeskInbox {
  readonly #client: ChatwootClient
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#client = deps.client
    this.#deps = deps
  }

  ensureContact(spec: ContactSpec, { isKnown } = { isKnown: false }): Promise<Contact> {
    const key = `contact|${this.#client.access}|${spec.sourceId}`
    return this.#deps.flights.run(key, () => ensureContact(this.#client, spec, isKnown))
  }

  async findContact(id: number): Promise<ShownContact | null> {
    const asked = this.#client.ask({ method: 'GET', path: `/contacts/${id}`, about: 'contact', read: readShownContact })
    return nullWhenGone(asked)
  }

  async describeContact(id: number): Promise<ListedContact | null> {
    return nullWhenGone(describeContact(this.#client, id))
  }

  async updateContact(id: number, changes: { name?: string; phone?: string; identifier?: string }): Promise<void> {
    const json = contactFields(changes)
    await this.#client.ask({ method: 'PATCH', path: `/contacts/${id}`, about: 'contact', json, read: anything })
  }

  async mergeContacts({ keep, drop }: { keep: number; drop: number }): Promise<void> {
    const json = { base_contact_id: keep, mergee_contact_id: drop }
    const path = '/actions/contact_merge'
    await this.#client.ask({ method: 'POST', path, about: 'contact', json, read: anything })
  }

  setAvatar(id: number, file: AvatarFile): Promise<ShownContact> {
    return setAvatar(this.#client, id, file)
  }

  async removeAvatar(id: number): Promise<void> {
    await nullWhenGone(removeAvatar(this.#client, id))
  }

  contactsPage(page: number): Promise<ContactsPage> {
    return contactsPage(this.#client, page)
  }

  conversationsPage(page: number): Promise<ConversationsPage> {
    return listInbox(this.#client, page)
  }

  async messagesFrom(conversationId: number, fromId: number): Promise<MessagesPage> {
    const page = await nullWhenGone(listMessagesFrom(this.#client, conversationId, fromId))
    return page ?? { messages: [], isWhole: true }
  }

  addAddress(contactId: number, sourceId: string): Promise<boolean> {
    return addAddress(this.#client, contactId, sourceId)
  }

  ensureConversation(
    contact: Pick<Contact, 'id' | 'sourceId'>,
    mode: 'new' | 'reopen',
    opening: Opening = {},
  ): Promise<Conversation> {
    const { except = [], status = 'open', isFirst = false, beforeCreation = () => Promise.resolve() } = opening
    const key = ['conversation', this.#client.access, contact.sourceId, contact.id, mode, ...except].join('|')
    const wanted = { contact, mode, except, status, isFirst, beforeCreation }
    return this.#deps.flights.run(key, () => ensureConversation(this.#client, wanted, this.#deps.uncertain))
  }

  createPending(spec: PendingSpec): Promise<ImportConversation> {
    const key = ['pending', this.#client.access, spec.contact.sourceId, spec.mark].join('|')
    return this.#deps.flights.run(key, () => createPending(this.#client, spec, this.#deps.uncertain))
  }

  async setConversationStatus(conversationId: number, status: ConversationStatus): Promise<void> {
    const path = `/conversations/${conversationId}/toggle_status`
    await this.#client.ask({ method: 'POST', path, about: 'conversation', json: { status }, read: anything })
  }

  conversationsSince(contact: Pick<Contact, 'id' | 'sourceId'>, since: number): Promise<number[]> {
    return conversationsSince(this.#client, contact, since)
  }

  async sourceIds(conversationId: number): Promise<ReadonlySet<string>> {
    const list = async () => listSourceIds(this.#client, conversationId, await this.newestMessageId(conversationId))
    return (await nullWhenGone(list())) ?? new Set()
  }

  async findConversation(id: number): Promise<Conversation | null> {
    return nullWhenGone(this.#conversation(id))
  }

  async newestMessageId(conversationId: number): Promise<number> {
    return (await this.#conversation(conversationId)).newestMessageId ?? 0
  }

  async surveyLink(conversationId: number): Promise<string | null> {
    const { baseUrl } = this.#client.destination
    const read = (json: unknown) => readSurveyLink(json, baseUrl)
    const path = `/conversations/${conversationId}`
    return nullWhenGone(this.#client.ask({ method: 'GET', path, about: 'conversation', read }))
  }

  async post(conversationId: number, message: NewMessage): Promise<NewlyPosted> {
    const path = `/conversations/${conversationId}/messages`
    this.#client.assertKeepsSourceIds()
    const posted = await this.#client.ask({
      method: 'POST',
      path,
      about: 'conversation',
      ...encodeMessage(message),
      read: readMessage,
    })
    if (message.sourceId === null || posted.sourceId !== null) return posted
    return { ...posted, flaw: this.#client.noteDroppedSourceId() }
  }

  async findPosted(conversationId: number, sourceId: string, afterId: number): Promise<PostedMessage | null> {
    let after = afterId
    for (;;) {
      const page = await this.#messages(conversationId, `after=${after}`)
      const found = page.find((each) => each.sourceId === sourceId)
      if (found) return found
      const last = Math.max(...page.map(({ id }) => id))
      if (page.length < pageOfMessages || last <= after) return null
      after = last
    }
  }

  async findMessage(conversationId: number, messageId: number): Promise<PostedMessage | null> {
    const around = this.#messages(conversationId, `after=${messageId - 1}&before=${messageId + 1}`)
    const found = await nullWhenGone(around)
    return found?.find(({ id }) => id === messageId) ?? null
  }

  async outgoingMessages(
    conversationId: number,
    { afterId, beforeId }: { afterId: number | null; beforeId: number },
  ): Promise<OutgoingMessage[]> {
    const before = () => this.#list(conversationId, `before=${beforeId}`, readOutgoing)
    if (afterId === null) return (await before()).outgoing
    const { outgoing, count, lastId } = await this.#list(conversationId, `after=${afterId}`, readOutgoing)
    // A full page that ends before the message says nothing about the messages right before it.
    return count < pageOfMessages || lastId >= beforeId ? outgoing : [...outgoing, ...(await before()).outgoing]
  }

  async setStatus(conversationId: number, messageId: number, status: MessageStatus, reason?: string): Promise<void> {
    const path = `/conversations/${conversationId}/messages/${messageId}`
    const json = { status, ...(reason !== undefined && { external_error: reason.slice(0, maxReason) }) }
    await this.#client.ask({ method: 'PATCH', path, about: 'message', json, read: readMessage })
  }

  async deleteMessage(conversationId: number, messageId: number): Promise<void> {
    const path = `/conversations/${conversationId}/messages/${messageId}`
    await nullWhenGone(this.#client.ask({ method: 'DELETE', path, about: 'message', read: anything }))
  }

  labels(conversationId: number): Promise<string[] | null> {
    const path = `/conversations/${conversationId}/labels`
    return nullWhenGone(this.#client.ask({ method: 'GET', path, about: 'conversation', read: readTitles }))
  }

  async setLabels(conversationId: number, titles: readonly string[]): Promise<void> {
    const path = `/conversations/${conversationId}/labels`
    const json = { labels: titles }
    await this.#client.ask({ method: 'POST', path, about: 'conversation', json, read: readTitles })
  }

  markSeen(conversationId: number): Promise<void> {
    return this.#change(conversationId, 'update_last_seen')
  }

  markUnread(conversationId: number): Promise<void> {
    return this.#change(conversationId, 'unread')
  }

  async setTyping({ conversationId, sourceId }: { conversationId: number; sourceId: string }, typing: boolean) {
    const identifier = await this.#client.identifier()
    if (identifier === null)
      throw new DownstreamError('permanent', 'Chatwoot does not show the identifier of the inbox')
    // The router of Chatwoot takes a dot for the beginning of a file extension.
    const contact = encodeURIComponent(sourceId).replaceAll('.', '%2E')
    const path = `/public/api/v1/inboxes/${identifier}/contacts/${contact}/conversations/${conversationId}/toggle_typing`
    const json = { typing_status: typing ? 'on' : 'off' }
    const read = () => true
    const call = { method: 'POST', path, isGlobal: true, isPublic: true, about: 'conversation', json, read } as const
    await this.#client.ask(call).catch((error: unknown) => {
      if (error instanceof DownstreamError && error.failure === 'gone') this.#client.forgetIdentifier()
      throw error
    })
  }

  probe(): Promise<string | null> {
    return this.#client.probe()
  }

  timeZone(): Promise<string | null> {
    return this.#client.timeZone()
  }

  async #change(conversationId: number, action: string): Promise<void> {
    const path = `/conversations/${conversationId}/${action}`
    await this.#client.ask({ method: 'POST', path, about: 'conversation', json: {}, read: anything })
  }

  async #conversation(id: number): Promise<Conversation> {
    const path = `/conversations/${id}`
    return toConversation(
      await this.#client.ask({ method: 'GET', path, about: 'conversation', read: readConversation }),
    )
  }

  #messages(conversationId: number, range: string): Promise<PostedMessage[]> {
    return this.#list(conversationId, range, readMessages)
  }

  #list<T>(conversationId: number, range: string, read: (json: unknown) => T | undefined): Promise<T> {
    const path = `/conversations/${conversationId}/messages?${range}`
    return this.#client.ask({ method: 'GET', path, about: 'conversation', read })
  }
}

async function nullWhenGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DownstreamError && error.failure === 'gone') return null
    throw error
  }
}
