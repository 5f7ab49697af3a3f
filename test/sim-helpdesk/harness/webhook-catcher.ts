// An HTTP server in place of the bridge: it records the helpdesk's webhooks and answers them as a test wants.

import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EventLog } from '../../../sim/event-log.ts'

export type Caught = {
  event: string
  path: string
  body: Record<string, unknown>
  raw: string
  headers: IncomingHttpHeaders
  at: number
}

type Reply = (caught: Caught, response: ServerResponse) => void

const ok: Reply = (_, response) => {
  response.end('{}')
}

export class WebhookCatcher {
  readonly caught = new EventLog<Caught>(
    'caught webhooks',
    ({ event, body }) => `${event} ${JSON.stringify(body['id'])}`,
  )
  readonly #server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const raw = Buffer.concat(chunks).toString()
      const body = JSON.parse(raw) as Caught['body']
      const { headers, url: path = '' } = request
      const one = { event: String(body['event']), path, body, raw, headers, at: performance.now() }
      this.reply(one, response)
      this.caught.add(one)
    })()
  })
  reply: Reply = ok

  static async start(): Promise<WebhookCatcher> {
    const catcher = new WebhookCatcher()
    await new Promise<void>((resolve) => catcher.#server.listen(0, '127.0.0.1', resolve))
    return catcher
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`
  }

  events(event: string): Caught[] {
    return this.caught.entries.filter((one) => one.event === event)
  }

  waitFor(event: string, matches: (body: Caught['body']) => boolean = () => true): Promise<Caught> {
    return this.caught.waitFor(event, (one) => one.event === event && matches(one.body))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }
}
