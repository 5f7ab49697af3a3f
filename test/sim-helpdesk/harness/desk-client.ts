// A client of the helpdesk's REST interface: the bridge, an agent, or a caller with a wrong token.

import type { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'

export type Json = Record<string, unknown> & { id: number }
export type Answer = { status: number; body: Json; text: string; headers: Headers }

export class DeskClient {
  readonly #url: string
  readonly #token: string
  readonly #accountId: number

  constructor(helpdesk: Pick<SimHelpdesk, 'url' | 'facts'>, token = helpdesk.facts.api_token, accountId = 1) {
    this.#url = helpdesk.url
    this.#token = token
    this.#accountId = accountId
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path)
  }

  post(path: string, body?: object): Promise<Answer> {
    return this.send('POST', path, body)
  }

  patch(path: string, body: object): Promise<Answer> {
    return this.send('PATCH', path, body)
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path)
  }

  /** A path is relative to the account. A path with two leading slashes is absolute. */
  async send(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    const isForm = body instanceof FormData
    const response = await fetch(this.#address(path), {
      method,
      redirect: 'manual',
      headers: {
        'Api-Access-Token': this.#token,
        ...(body && !isForm ? { 'Content-Type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
    })
    return readAnswer(response)
  }

  #address(path: string): string {
    return path.startsWith('//') ? this.#url + path.slice(1) : `${this.#url}/api/v1/accounts/${this.#accountId}${path}`
  }
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
  return {
    status: response.status,
    body: (isJson ? JSON.parse(text) : {}) as Json,
    text,
    headers: response.headers,
  }
}

/** Creates a contact with an address in the first helpdesk inbox, and a conversation. */
export async function openChat(client: DeskClient, sourceId: string, extra: object = {}): Promise<number> {
  const created = await client.post('/contacts', {
    name: 'Maria',
    identifier: `${sourceId}@s.whatsapp.net`,
    inbox_id: 1,
    source_id: sourceId,
  })
  const { contact } = created.body['payload'] as { contact: Json }
  const conversation = await client.post('/conversations', {
    inbox_id: 1,
    contact_id: contact.id,
    source_id: sourceId,
    ...extra,
  })
  return conversation.body.id
}
