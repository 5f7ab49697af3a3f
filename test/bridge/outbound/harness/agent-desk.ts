// The agents at the scripted helpdesk: they write, delete and retry messages, and the bridge gets the callbacks for it.

import type { PostedMessage } from '../../../../src/core/helpdesk/message.ts'
import type { Clock } from '../../../../src/lib/clock.ts'
import type { ScriptedHelpdesk } from '../../harness/scripted-helpdesk.ts'

export type Answer = { status: number; body: unknown }
export type Callback = Record<string, unknown>

/** A message as the helpdesk shows it to the agent. */
export type AgentMessage = {
  id: number
  conversationId: number
  content: string
  status: PostedMessage['status']
  private: boolean
  contentAttributes: Record<string, unknown>
  attachments: readonly object[]
  createdAt: number
  sender: object | null
}

type Deps = {
  helpdesk: ScriptedHelpdesk
  clock: Clock
  post: (callback: Callback, headers?: Record<string, string>) => Promise<Answer>
}

export type Extra = {
  private?: boolean
  content_attributes?: Record<string, unknown>
  attachments?: readonly object[]
  sender?: object | null
}

export class AgentDesk {
  readonly deliveries: { event: string; id: number; answer: Answer }[] = []
  /** What the bridge told of messages, in order. */
  readonly marks: { id: number; status: string; reason: string | undefined }[] = []
  /** How long callbacks wait before the service reads them; null for a helpdesk that does not say when it sent them. */
  sentSecondsAgo: number | null = 0
  /** What becomes of the next callback: the helpdesk takes its answer, gives up before the answer, or delivers it twice. */
  fate: () => 'taken' | 'late' | 'twice' = () => 'taken'
  readonly #deps: Deps
  readonly #messages = new Map<number, AgentMessage>()
  readonly #open = new Set<Promise<unknown>>()

  constructor(deps: Deps) {
    this.#deps = deps
    deps.helpdesk.agents = {
      findMessage: (_, id) => Promise.resolve(this.#found(id)),
      outgoingMessages: (conversationId, range) => Promise.resolve(this.#outgoing(conversationId, range)),
      setStatus: (_, id, status, reason) => {
        this.marks.push({ id, status, reason })
        const message = this.#messages.get(id)
        if (message) this.#mark(message, status, reason)
        return Promise.resolve()
      },
    }
  }

  /** The message is there at once; `answered` is the bridge's answer to the callback. */
  write(content: string, extra: Extra, conversationId: number): { id: number; answered: Promise<Answer> } {
    const { helpdesk, clock } = this.#deps
    const message: AgentMessage = {
      id: helpdesk.newId(),
      conversationId,
      content,
      status: 'sent',
      private: extra.private ?? false,
      contentAttributes: extra.content_attributes ?? {},
      attachments: extra.attachments ?? [],
      createdAt: clock.now(),
      sender: extra.sender === undefined ? { id: 2, name: 'Ana', type: 'user' } : extra.sender,
    }
    this.#messages.set(message.id, message)
    return { id: message.id, answered: this.#tell('message_created', message) }
  }

  delete(id: number): Promise<Answer> {
    const message = this.message(id)
    Object.assign(message, {
      content: 'This message was deleted',
      contentAttributes: { deleted: true },
      attachments: [],
    })
    return this.#tell('message_updated', message)
  }

  /** The helpdesk shows the message as sent, forgets what it replied to, and tells that it has changed. */
  retry(id: number): Promise<Answer> {
    const message = this.message(id)
    Object.assign(message, { status: 'sent', contentAttributes: {} })
    return this.#tell('message_updated', message)
  }

  /** The helpdesk marks the message as failed for a reason of its own. */
  fail(id: number, reason: string): void {
    this.#mark(this.message(id), 'failed', reason)
  }

  message(id: number): AgentMessage {
    const message = this.#messages.get(id)
    if (!message) throw new Error(`no agent wrote a message ${id}`)
    return message
  }

  /** Until no callback is on its way. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }

  /** Who the conversation is with, as callbacks tell it. */
  conversation(id: number): object {
    const { conversations, contacts } = this.#deps.helpdesk
    const conversation = conversations.find((each) => each.id === id)
    const contact = contacts.find((each) => each.id === conversation?.contactId)
    const sender = { name: contact?.name, identifier: contact?.identifier, phone_number: contact?.phone }
    return { id, inbox_id: 1, meta: { sender }, contact_inbox: { source_id: conversation?.sourceId } }
  }

  #mark(message: AgentMessage, status: PostedMessage['status'], reason?: string): void {
    const error = status === 'failed' ? (reason ?? null) : null
    const { contentAttributes: before } = message
    if (message.status === status && (before['external_error'] ?? null) === error) return
    const isWritten = error !== null || 'external_error' in before
    message.status = status
    message.contentAttributes = isWritten ? { ...before, external_error: error } : before
    void this.#tell('message_updated', message)
  }

  #tell(event: string, message: AgentMessage): Promise<Answer> {
    const delivery = this.#deliver(event, message)
    this.#open.add(delivery)
    void delivery.finally(() => this.#open.delete(delivery))
    return delivery
  }

  async #deliver(event: string, message: AgentMessage): Promise<Answer> {
    const fate = this.fate()
    const sentAt = Math.floor(this.#deps.clock.now() / 1000) - (this.sentSecondsAgo ?? 0)
    const headers = this.sentSecondsAgo === null ? {} : { 'x-chatwoot-timestamp': String(sentAt) }
    const callback = this.#callback(event, message)
    const answer = await this.#deps.post(callback, headers)
    if (fate === 'twice') await this.#deps.post(callback, headers)
    this.deliveries.push({ event, id: message.id, answer })
    if (fate === 'late') this.#mark(message, 'failed', 'Net::ReadTimeout')
    else if (answer.status >= 300) this.#mark(message, 'failed', `${answer.status} from the webhook`)
    return answer
  }

  #callback(event: string, message: AgentMessage): Callback {
    const { id, content, conversationId, contentAttributes, attachments, sender } = message
    return {
      event,
      id,
      content,
      message_type: 'outgoing',
      private: message.private,
      account: { id: 1 },
      inbox: { id: 1 },
      conversation: this.conversation(conversationId),
      content_attributes: contentAttributes,
      attachments,
      source_id: null,
      created_at: new Date(message.createdAt).toISOString(),
      sender,
    }
  }

  #outgoing(conversationId: number, { afterId, beforeId }: { afterId: number | null; beforeId: number }) {
    const ofConversation = [...this.#messages.values()].filter(
      (message) =>
        message.conversationId === conversationId &&
        !message.private &&
        message.status !== 'failed' &&
        message.contentAttributes['deleted'] !== true,
    )
    return afterId === null
      ? ofConversation.filter(({ id }) => id < beforeId).slice(-20)
      : ofConversation.filter(({ id }) => id > afterId).slice(0, 100)
  }

  #found(id: number): PostedMessage | null {
    const message = this.#messages.get(id)
    if (!message) return null
    const { status, createdAt, contentAttributes } = message
    return { id, sourceId: null, status, createdAt, isDeleted: contentAttributes['deleted'] === true }
  }
}
