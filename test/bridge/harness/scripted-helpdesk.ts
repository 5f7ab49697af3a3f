// A helpdesk in memory that does what a test tells it: takes, refuses, loses answers, commits late.

import { Readable } from 'node:stream'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { Destination } from '../../../src/core/downstream.ts'
import type { Contact, ContactSpec } from '../../../src/core/helpdesk/contact.ts'
import type { Conversation } from '../../../src/core/helpdesk/conversation.ts'
import { listedContact } from '../../harness/listed-contact.ts'
import type { DownloadedFile, Downstream, DownstreamLimits, HelpdeskInbox } from '../../../src/core/downstream.ts'
import type { NewMessage, PostedMessage } from '../../../src/core/helpdesk/message.ts'

export type Posted = NewMessage & { id: number; conversationId: number; destination: string; bytes: number }
/** A conversation as it is kept. `mark` and `isHistory` stand for what an import has made. */
type Kept = Conversation & { sourceId: string; destination: string; mark?: string; isHistory?: boolean }
type Call = keyof HelpdeskInbox
export type AgentCalls = Pick<HelpdeskInbox, 'findMessage' | 'outgoingMessages' | 'setStatus'>
/** Throws to fail the call; runs before anything is done. */
export type Script = (call: Call, destination: Destination) => void | Promise<void>

export class ScriptedHelpdesk implements Downstream {
  readonly limits: DownstreamLimits = {
    fits: (text) => text.length <= 150_000,
    safeLength: 75_000,
    lateCommitMs: 20_000,
  }
  readonly messages: Posted[] = []
  readonly conversations: Kept[] = []
  readonly contacts: (Contact & { destination: string })[] = []
  readonly calls: Call[] = []
  script: Script = () => undefined
  /** What it says of itself when it is asked which helpdesk inbox it is. */
  identifier: string | null = null
  /** What becomes of messages that agents wrote; a bed with agents replaces it. */
  agents: AgentCalls = {
    findMessage: () => Promise.resolve(null),
    outgoingMessages: () => Promise.resolve([]),
    setStatus: () => Promise.resolve(),
  }
  /** Attachments of agents' messages, by their address. */
  readonly files = new Map<string, { bytes: Uint8Array; type: string }>()
  /** Runs before an attachment is handed out; throws to fail the download. */
  beforeDownload: (url: string) => void | Promise<void> = () => undefined
  /** What becomes of a post that was done: throws to lose the answer. */
  afterPost: (message: Posted) => void | Promise<void> = () => undefined
  /** What becomes of a pending conversation that was created: throws to lose the answer. */
  afterCreation: (conversation: Conversation) => void | Promise<void> = () => undefined
  #ids = 0

  helpdesk(destination: Destination): HelpdeskInbox {
    const ask = async (call: Call) => {
      this.calls.push(call)
      await this.script(call, destination)
    }
    const { key } = destination
    return {
      ensureContact: async (spec) => {
        await ask('ensureContact')
        return this.#contact(key, spec)
      },
      findContact: async (id) => {
        await ask('findContact')
        const found = this.contacts.find((each) => each.id === id)
        return found ? { id, name: found.name, thumbnail: null } : null
      },
      describeContact: async (id) => {
        await ask('describeContact')
        const found = this.contacts.find((each) => each.id === id && each.destination === key)
        return found ? listedContact({ ...found, sourceIds: [found.sourceId] }) : null
      },
      updateContact: async (id, changes) => {
        await ask('updateContact')
        Object.assign(this.contacts.find((each) => each.id === id) ?? {}, changes)
      },
      mergeContacts: () => ask('mergeContacts'),
      setAvatar: async (id) => {
        await ask('setAvatar')
        return { id, name: '', thumbnail: null }
      },
      removeAvatar: () => ask('removeAvatar'),
      contactsPage: async () => {
        await ask('contactsPage')
        return { contacts: [], isLast: true }
      },
      conversationsPage: async () => {
        await ask('conversationsPage')
        return { conversations: [], isLast: true }
      },
      messagesFrom: async () => {
        await ask('messagesFrom')
        return { messages: [], isWhole: true }
      },
      addAddress: async () => {
        await ask('addAddress')
        return true
      },
      ensureConversation: async ({ sourceId }, mode, { except, status = 'open', isFirst, beforeCreation } = {}) => {
        await ask('ensureConversation')
        const found = isFirst ? undefined : this.#findConversation(key, sourceId, mode, except)
        if (found) return found
        await beforeCreation?.()
        return Object.assign(await this.openConversation(key, sourceId), { status })
      },
      createPending: async ({ contact: { sourceId }, mark, isHistory, beforeCreation }) => {
        await ask('createPending')
        const marked = this.conversations.find((each) => each.destination === key && each.mark === mark)
        if (marked) return { ...marked, isOwn: true }
        await beforeCreation()
        const made = await this.openConversation(key, sourceId)
        await this.afterCreation(Object.assign(made, { status: 'pending' as const, mark, isHistory }))
        return { ...made, isOwn: true }
      },
      setConversationStatus: async (id, status) => {
        await ask('setConversationStatus')
        this.#mustExist(id)
        Object.assign(this.conversations.find((each) => each.id === id) ?? {}, { status })
      },
      conversationsSince: async ({ sourceId }) => {
        await ask('conversationsSince')
        return this.conversations
          .filter((each) => each.destination === key && each.sourceId === sourceId)
          .map(({ id }) => id)
      },
      sourceIds: async (conversationId) => {
        await ask('sourceIds')
        const here = this.messages.filter((each) => each.conversationId === conversationId)
        return new Set(here.flatMap(({ sourceId }) => sourceId ?? []))
      },
      findConversation: async (id) => {
        await ask('findConversation')
        return this.conversations.find((each) => each.id === id) ?? null
      },
      newestMessageId: async () => {
        await ask('newestMessageId')
        return this.#ids
      },
      surveyLink: async (conversationId) => {
        await ask('surveyLink')
        const found = this.conversations.some(({ id }) => id === conversationId)
        return found ? `https://desk.example/survey/responses/${conversationId}` : null
      },
      post: async (conversationId, message) => {
        await ask('post')
        const posted = await this.commit(key, conversationId, message)
        await this.afterPost(posted)
        return seen(posted)
      },
      findPosted: async (conversationId, sourceId, afterId) => {
        await ask('findPosted')
        this.#mustExist(conversationId)
        const found = this.messages.find(
          (each) => each.conversationId === conversationId && each.sourceId === sourceId && each.id > afterId,
        )
        return found ? seen(found) : null
      },
      findMessage: async (...which) => {
        await ask('findMessage')
        return this.agents.findMessage(...which)
      },
      outgoingMessages: async (...which) => {
        await ask('outgoingMessages')
        return this.agents.outgoingMessages(...which)
      },
      setStatus: async (...change) => {
        await ask('setStatus')
        await this.agents.setStatus(...change)
      },
      deleteMessage: () => ask('deleteMessage'),
      labels: () => Promise.resolve([]),
      setLabels: () => Promise.resolve(),
      markSeen: () => ask('markSeen'),
      markUnread: () => ask('markUnread'),
      setTyping: () => ask('setTyping'),
      timeZone: () => Promise.resolve('UTC'),
      probe: async () => {
        await ask('probe')
        return this.identifier
      },
    }
  }

  account(): never {
    throw new Error('no bed sets up a helpdesk inbox')
  }

  /** Writes a message down, as the helpdesk does sooner or later. */
  async commit(destination: string, conversationId: number, message: NewMessage): Promise<Posted> {
    this.#mustExist(conversationId)
    let bytes = 0
    for (const file of message.files) {
      for await (const chunk of await file.open()) bytes += (chunk as Buffer).length
    }
    const posted = { ...message, id: ++this.#ids, conversationId, destination, bytes }
    const conversation = this.conversations.find(({ id }) => id === conversationId)
    if (conversation?.status === 'resolved' && message.type === 'incoming') conversation.status = 'open'
    if (conversation) conversation.newestMessageId = posted.id
    this.messages.push(posted)
    return posted
  }

  /** Writes a conversation down, as the helpdesk does sooner or later. */
  openConversation(destination: string, sourceId: string): Promise<Conversation> {
    const contact = this.contacts.find((each) => each.destination === destination && each.sourceId === sourceId)
    const rest = {
      inboxId: 1,
      contactId: contact?.id ?? null,
      newestMessageId: null,
      callbackSign: null,
      sourceId,
      destination,
    }
    const made = { id: ++this.#ids, status: 'open' as const, ...rest }
    this.conversations.push(made)
    return Promise.resolve(made)
  }

  newId(): number {
    return ++this.#ids
  }

  get contents(): string[] {
    return this.messages.map(({ content }) => content)
  }

  async download(_: Destination, url: string): Promise<DownloadedFile> {
    await this.beforeDownload(url)
    const file = this.files.get(url)
    if (!file) throw new DownstreamError('gone', 'no such file')
    return { stream: Readable.from([file.bytes]), mimeType: file.type, fileName: null, size: file.bytes.length }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }

  #mustExist(conversationId: number): void {
    if (this.conversations.some(({ id }) => id === conversationId)) return
    throw new DownstreamError('gone', 'no conversation')
  }

  #contact(destination: string, spec: ContactSpec): Contact {
    const names = [spec.sourceId, ...spec.formerSourceIds]
    const known = this.contacts.find((each) => each.destination === destination && names.includes(each.sourceId))
    if (known) return { ...known, created: false, isNewHere: false }
    const { sourceId, identifier, phone, name } = spec
    const made = { elsewhere: false, created: true, isNewHere: true }
    const contact = { id: ++this.#ids, sourceId, identifier, phone, name, destination, ...made }
    this.contacts.push(contact)
    return contact
  }

  #findConversation(
    destination: string,
    sourceId: string,
    mode: 'new' | 'reopen',
    except: readonly number[] = [],
  ): Conversation | undefined {
    const ours = this.conversations.filter(
      (each) =>
        each.destination === destination && each.sourceId === sourceId && !each.isHistory && !except.includes(each.id),
    )
    return ours.filter(({ status, isHistory }) => !isHistory && (status !== 'resolved' || mode === 'reopen')).at(-1)
  }
}

function seen({ id, sourceId }: Posted): PostedMessage {
  return { id, sourceId, status: 'sent', createdAt: 0, isDeleted: false }
}
