// Makes single calls to one Chatwoot: adds the token, reads JSON, keeps the deadline, and turns every failure into a
// DownstreamError.

import { originOf } from '../core/downstream.ts'
import type { Traces } from '../core/trace/traces.ts'
import type { Clock } from '../lib/clock.ts'
import type { Answer, Egress } from '../lib/egress/egress.ts'
import { EgressError } from '../lib/egress/errors.ts'
import type { MultipartBody } from '../lib/egress/multipart.ts'
import { explainAnswer, explainSilence, strangeAnswer } from './failures.ts'
import type { Reached, Subject } from './failures.ts'

export type CallDeps = {
  egress: Pick<Egress, 'request'>
  traces: Pick<Traces, 'within'>
  clock: Pick<Clock, 'now'>
  timeoutMs: number
}

export type Call<T> = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  /** The path is below the root of the installation instead of the account. */
  isGlobal?: true
  /** Any visitor may ask, so the token is not sent. */
  isPublic?: true
  /** What the path names besides the account; a 404 is about it. */
  about: Subject
  json?: object
  multipart?: MultipartBody
  /** Undefined when the answer does not have the expected form. */
  read: (json: unknown, answer: Pick<Answer, 'headers'>) => T | undefined
}

// A hundred messages of 150,000 characters fit. Readers of longer lists ask for less when an answer is too large.
const maxAnswerBytes = 32 * 1024 * 1024

export class ChatwootCalls {
  readonly #deps: CallDeps
  readonly #reached: Reached
  readonly #root: string
  readonly #origin: string

  constructor(deps: CallDeps, reached: Reached) {
    this.#deps = deps
    this.#reached = reached
    this.#root = reached.baseUrl.replace(/(?<!\/)\/+$/, '')
    this.#origin = originOf(reached.baseUrl)
  }

  send<T>(call: Call<T>): Promise<T> {
    const { method, about } = call
    return this.#deps.traces.within('helpdesk request', { method, about }, () => this.#send(call))
  }

  async #send<T>(call: Call<T>): Promise<T> {
    const asked = { method: call.method, about: call.about, destination: this.#reached }
    let answer: Answer
    try {
      answer = await this.#request(call)
    } catch (error) {
      throw error instanceof EgressError ? explainSilence(asked, error) : error
    }
    if (answer.status < 200 || answer.status > 299) throw explainAnswer(asked, answer, this.#deps.clock.now())
    const result = call.read(parseJson(answer), answer)
    if (result === undefined) throw strangeAnswer(asked, answer)
    return result
  }

  #request({ method, path, isGlobal, isPublic, json, multipart }: Call<unknown>): Promise<Answer> {
    const { accountId, apiToken } = this.#reached
    const below = isGlobal ? this.#root : `${this.#root}/api/v1/accounts/${accountId}`
    const headers: Record<string, string> = { Accept: 'application/json' }
    if (!isPublic) headers['Api-Access-Token'] = apiToken
    if (json) headers['Content-Type'] = 'application/json'
    if (multipart) headers['Content-Type'] = multipart.contentType
    return this.#deps.egress.request({
      method,
      url: below + path,
      headers,
      ...(json && { body: JSON.stringify(json) }),
      ...(multipart && { body: multipart.body, bodyBytes: multipart.bodyBytes }),
      timeoutMs: this.#deps.timeoutMs,
      maxResponseBytes: maxAnswerBytes,
      trustedOrigin: this.#origin,
    })
  }
}

/** For answers that hold nothing we need. */
export function anything(json: unknown): true | undefined {
  return json === undefined ? undefined : true
}

function parseJson(answer: Answer): unknown {
  try {
    return answer.json()
  } catch {
    return undefined
  }
}
