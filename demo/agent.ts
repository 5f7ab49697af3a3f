// The agent at the simulated Chatwoot. Everything goes over its REST interface, as from Chatwoot's own pages.

import { readFile } from 'node:fs/promises'
import { DemoError } from './demo-error.ts'
import { chatOf } from './passages.ts'
import type { Passages } from './passages.ts'
import type { Stage } from './stage.ts'
import type { Chat, MessageKind, Passage } from './view.ts'

const photo = await readFile(new URL('files/photo.jpg', import.meta.url))

export class Agent {
  readonly #stage: Stage
  readonly #passages: Passages

  constructor(stage: Stage, passages: Passages) {
    this.#stage = stage
    this.#passages = passages
  }

  answer(conversation: number, text: string, inReplyTo?: number): Promise<Passage> {
    const form = new FormData()
    form.set('content', text)
    if (inReplyTo !== undefined) form.set('content_attributes', JSON.stringify({ in_reply_to: inReplyTo }))
    return this.#write(conversation, inReplyTo === undefined ? 'text' : 'quote', form)
  }

  sendPhoto(conversation: number, caption: string): Promise<Passage> {
    const form = new FormData()
    if (caption !== '') form.set('content', caption)
    form.append('attachments[]', new Blob([new Uint8Array(photo)], { type: 'image/jpeg' }), 'photo.jpg')
    return this.#write(conversation, 'photo', form)
  }

  /** The customer's phone loses the message too. */
  delete(conversation: number, message: number): Promise<Passage> {
    return this.#passages.agentWrites('delete', this.#chatOf(conversation), async () => {
      await this.#call('DELETE', `/conversations/${conversation}/messages/${message}`)
      return message
    })
  }

  /** Presses Retry at a message that failed. */
  async retry(conversation: number, message: number): Promise<void> {
    await this.#call('POST', `/conversations/${conversation}/messages/${message}/retry`)
  }

  /** The agent opens the conversation. Chatwoot tells it with the next answer, and the customer's ticks become blue. */
  async look(conversation: number): Promise<void> {
    await this.#call('POST', `/conversations/${conversation}/update_last_seen`)
  }

  async type(conversation: number, isTyping: boolean): Promise<void> {
    const body = { typing_status: isTyping ? 'on' : 'off', is_private: false }
    await this.#call('POST', `/conversations/${conversation}/toggle_typing_status`, body)
  }

  #write(conversation: number, kind: MessageKind, form: FormData): Promise<Passage> {
    return this.#passages.agentWrites(kind, this.#chatOf(conversation), async () => {
      const { id } = await this.#call('POST', `/conversations/${conversation}/messages`, form)
      return id
    })
  }

  #chatOf(conversation: number): Chat {
    const { see } = this.#stage.world.helpdesk
    const [found] = see.conversations(({ id }) => id === conversation)
    if (!found) throw new DemoError(`There is no conversation ${conversation} yet.`)
    const [contact] = see.contacts(({ id }) => id === found.contactId)
    return chatOf(contact?.identifier ?? '')
  }

  async #call(method: string, path: string, body?: object): Promise<{ id: number }> {
    const { url, agent, facts } = this.#stage.world.helpdesk
    const isForm = body instanceof FormData
    const headers = { 'Api-Access-Token': agent.token, ...(body && !isForm && { 'Content-Type': 'application/json' }) }
    const content = body && { body: isForm ? body : JSON.stringify(body) }
    const address = `${url}/api/v1/accounts/${facts.account_id}${path}`
    const response = await fetch(address, { method, headers, ...content }).catch((cause: unknown) => {
      throw new DemoError('The helpdesk is stopped: start it again first.', { cause })
    })
    const text = await response.text()
    if (!response.ok) throw new DemoError(`The helpdesk answered ${response.status}: ${text}`)
    return (text === '' ? { id: 0 } : JSON.parse(text)) as { id: number }
  }
}
