// Subscribers of lifecycle events: a real HTTP receiver where every path is one of them, answering as a test says.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { waitUntil } from './wait-until.ts'

/** In the form that Standard Webhooks prescribes. */
export const lifecycleSecret = `whsec_${Buffer.from('lifecycle canary secret!').toString('base64')}`

export type Payload = Record<string, unknown> & { id: string; event: string; instance: string }
export type Received = { path: string; raw: string; headers: IncomingHttpHeaders; payload: Payload }
/** A status, a status with headers, or no answer at all. */
export type Reply = number | { status: number; headers: Record<string, string> } | 'silence'

/** The verifier looks at the time of day itself; what is further off is checked by signing it once more. */
const verifiableMs = 240_000

export class SubscriberServer {
  readonly received: Received[] = []
  readonly #scripts = new Map<string, Reply[]>()
  readonly #held = new Set<ServerResponse>()
  readonly #server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const raw = Buffer.concat(chunks).toString()
      const path = request.url ?? ''
      this.received.push({ path, raw, headers: request.headers, payload: JSON.parse(raw) as Payload })
      this.#reply(path, response)
    })()
  })

  static async start(): Promise<SubscriberServer> {
    const server = new SubscriberServer()
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`
  }

  /** The replies to the next requests for this path; the last one stays. Without a script it is 200. */
  script(path: string, ...replies: Reply[]): void {
    this.#scripts.set(path, replies)
  }

  /** Answers every request that was kept waiting. */
  release(status = 200): void {
    for (const response of this.#held) response.writeHead(status).end()
    this.#held.clear()
  }

  at(path: string, event?: string): Received[] {
    return this.received.filter((one) => one.path === path && (event === undefined || one.payload.event === event))
  }

  /** Events in the order they came, repetitions included. */
  events(path: string): string[] {
    return this.at(path).map(({ payload }) => payload.event)
  }

  /** The n-th request with this event for this path. */
  async gets(path: string, event: string, times = 1): Promise<Received> {
    await waitUntil(`${path} hears of ${event} ${times}×`, () => this.at(path, event).length >= times, {
      instead: () => this.received.map((one) => `${one.path} ${one.payload.event}`),
    })
    return this.at(path, event)[times - 1] as Received
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  #reply(path: string, response: ServerResponse): void {
    const script = this.#scripts.get(path) ?? []
    const reply = (script.length > 1 ? script.shift() : script[0]) ?? 200
    if (reply === 'silence') this.#held.add(response)
    else if (typeof reply === 'number') response.writeHead(reply).end()
    else response.writeHead(reply.status, reply.headers).end()
  }
}

/** The request is what it should be, and an independent verifier accepts its signature; returns the payload. */
export function assertDelivery({ raw, headers, payload }: Received, secret = lifecycleSecret): Payload {
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['webhook-id'], payload.id)
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  assert.equal(headers['x-service-signature'], `sha256=${createHmac('sha256', key).update(raw).digest('hex')}`)
  const verifier = new Webhook(secret)
  const signedAt = Number(headers['webhook-timestamp']) * 1000
  if (Math.abs(Date.now() - signedAt) < verifiableMs) {
    assert.deepEqual(verifier.verify(raw, headers as Record<string, string>), payload)
  } else assert.equal(headers['webhook-signature'], verifier.sign(payload.id, new Date(signedAt), raw))
  return payload
}

/** The delivery is signed and carries exactly these fields beside those that every event carries. */
export function assertPayload(received: Received, expected: Record<string, unknown>): void {
  const { id, occurred_at, version, ...payload } = assertDelivery(received)
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.match(String(occurred_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.match(String(version), /^\d+\.\d+\.\d+$/)
  assert.deepEqual(payload, expected)
}
