// The HTTP client of the service: every request to another server leaves through it.

import type { LookupFunction, Socket } from 'node:net'
import { unescape } from 'node:querystring'
import { Readable } from 'node:stream'
import { Agent } from 'undici'
import { systemClock } from '../clock.ts'
import type { Clock } from '../clock.ts'
import { AnswerBody } from './answer-body.ts'
import { EgressError } from './errors.ts'
import { Exchange } from './exchange.ts'
import type { AnswerHead } from './received-head.ts'
import { guardedConnector } from './guarded-connect.ts'
import { createJudge, privateAllowed } from './policy.ts'
import type { EgressPolicy } from './policy.ts'

export type EgressOptions = {
  policy: EgressPolicy
  clock?: Clock
  connectTimeoutMs?: number
  connectionsPerOrigin?: number
  /** A PEM certificate trusted besides the usual ones. */
  ca?: string
  lookup?: LookupFunction
}

export type EgressRequest = {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string | URL
  headers?: Record<string, string>
  /** A stream is destroyed at the end of the request. */
  body?: string | Uint8Array | AsyncIterable<Uint8Array>
  /** Length of a stream, when it is known; else the body is sent in chunks. */
  bodyBytes?: number | undefined
  /** From the last byte of the body to the end of a collected answer, or to the head of a streamed one. */
  timeoutMs: number
  /** `timeoutMs` is for all of it: the wait for a connection counts, and a large body gets no more. */
  isTotal?: boolean
  maxResponseBytes?: number
  signal?: AbortSignal | undefined
  /** The origin that the configuration names: it may be private even when the policy forbids that for others. */
  trustedOrigin?: string | undefined
}

export type StreamedAnswer = AnswerHead & { body: Readable }

const megabyte = 1024 * 1024

export class Answer {
  readonly #head: AnswerHead
  readonly body: Buffer

  constructor(head: AnswerHead, body: Buffer) {
    this.#head = head
    this.body = body
  }

  get status(): number {
    return this.#head.status
  }

  get headers(): AnswerHead['headers'] {
    return this.#head.headers
  }

  text(): string {
    return this.body.toString('utf8')
  }

  json(): unknown {
    return JSON.parse(this.text())
  }
}

export class Egress {
  readonly clock: Clock
  readonly #sockets = new Set<Socket>()
  readonly #agent: Agent
  // Separate from the others: a connection to a trusted origin must not serve a request without that trust.
  readonly #trustedAgent: Agent

  constructor({ policy, clock = systemClock, connectTimeoutMs = 10_000, ca, lookup, ...options }: EgressOptions) {
    this.clock = clock
    const agentFor = (judged: EgressPolicy) =>
      new Agent({
        connect: guardedConnector({ clock, judge: createJudge(judged), connectTimeoutMs, ca, lookup }, this.#sockets),
        connections: options.connectionsPerOrigin ?? 16,
        // We keep our own deadlines: those of undici are per chunk and do not use our clock.
        headersTimeout: 0,
        bodyTimeout: 0,
      })
    this.#agent = agentFor(policy)
    this.#trustedAgent = agentFor(privateAllowed)
  }

  /** Resolves with the whole answer, of any status; rejects with an EgressError. Follows no redirect. */
  request(request: EgressRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let head: AnswerHead
      this.#start(request, {
        onHead: (received) => {
          head = received
          return undefined
        },
        onEnd: (chunks) => {
          resolve(new Answer(head, chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
        },
        onFailure: reject,
      })
    })
  }

  /** Resolves with the head of the answer. Its body must be read to the end or destroyed. */
  open(request: EgressRequest): Promise<StreamedAnswer> {
    return new Promise((resolve, reject) => {
      this.#start(request, {
        onHead: ({ status, headers }) => {
          const body = new AnswerBody()
          resolve({ status, headers, body })
          return body
        },
        onEnd: () => undefined,
        onFailure: reject,
      })
    })
  }

  #start(request: EgressRequest, callbacks: ConstructorParameters<typeof Exchange>[1]): void {
    const url = httpUrl(request.url)
    const { body } = request
    const { origin } = url
    const isStream = typeof body === 'object' && !(body instanceof Uint8Array)
    const bodyStream = isStream ? toReadable(body) : undefined
    const exchange = new Exchange(
      {
        clock: this.clock,
        origin,
        timeoutMs: request.timeoutMs,
        isTotal: request.isTotal ?? false,
        maxResponseBytes: request.maxResponseBytes ?? 8 * megabyte,
        signal: request.signal,
        bodyBytes: isStream ? request.bodyBytes : (body?.length ?? 0),
        bodyStream,
      },
      callbacks,
    )
    if (exchange.isOver) return
    const agent = origin === request.trustedOrigin ? this.#trustedAgent : this.#agent
    agent.dispatch(
      {
        origin,
        path: url.pathname + url.search,
        method: request.method ?? 'GET',
        headers: headersOf(request, url),
        body: bodyStream ?? (body as string | Uint8Array | undefined) ?? null,
      },
      exchange,
    )
  }

  /** Ends every connection, also those in use. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#trustedAgent.destroy()])
    for (const socket of this.#sockets) socket.destroy()
  }
}

function httpUrl(text: string | URL): URL {
  const url = typeof text === 'string' ? URL.parse(text) : text
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new EgressError('refused', 'the address is not an http or https URL', { sent: 'nothing' })
}

function toReadable(body: AsyncIterable<Uint8Array>): Readable {
  return body instanceof Readable ? body : Readable.from(body, { objectMode: false })
}

function headersOf({ headers = {}, bodyBytes, body }: EgressRequest, url: URL): Record<string, string> {
  const length =
    bodyBytes !== undefined && typeof body === 'object' ? { 'content-length': String(bodyBytes) } : undefined
  const credentials = url.username === '' && url.password === '' ? undefined : basicCredentials(headers, url)
  return length || credentials ? { ...headers, ...length, ...credentials } : headers
}

function basicCredentials(headers: Record<string, string>, url: URL): Record<string, string> {
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) return {}
  const credentials = `${unescape(url.username)}:${unescape(url.password)}`
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}
