// The agent at the simulated Chatwoot. Everything goes over its REST interface, as from Chatwoot's own pages.

import { readFile } from 'node:fs/promises'
import { DemoError } from './demo-error.ts'
import type { Stage } from './stage.ts'

const photo = await readFile(new URL('files/photo.jpg', import.meta.url))

export class Agent {
  readonly #stage: Stage

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Returns the id of the answer at the helpdesk. */
  answer(conversation: number, text: string): Promise<number> {
    const form = new FormData()
    form.set('content', text)
    return this.#write(conversation, form)
  }

  sendPhoto(conversation: number, caption: string): Promise<number> {
    const form = new FormData()
    form.set('content', caption)
    form.append('attachments[]', new Blob([new Uint8Array(photo)], { type: 'image/jpeg' }), 'photo.jpg')
    return this.#write(conversation, form)
  }

  /** The customer's phone loses the message too. */
  async delete(conversation: number, message: number): Promise<void> {
    await this.#call('DELETE', `/conversations/${conversation}/messages/${message}`)
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

  async #write(conversation: number, form: FormData): Promise<number> {
    const { id } = await this.#call('POST', `/conversations/${conversation}/messages`, form)
    return id
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
