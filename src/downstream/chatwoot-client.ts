// Calls the account API of one Chatwoot: adds the token, reads JSON, keeps the deadline, and turns every failure into a
// DownstreamError.

import { accessKey } from '../core/downstream.ts'
import type { InboxAccess } from '../core/downstream.ts'
import type { Clock } from '../lib/clock.ts'
import type { Answer, Egress } from '../lib/egress/egress.ts'
import { EgressError } from '../lib/egress/errors.ts'
import type { MultipartBody } from '../lib/egress/multipart.ts'
import type { Breakers } from './breaker.ts'
import { explainAnswer, explainSilence, strangeAnswer, tooOldVersion, wrongKindOfInbox } from './failures.ts'
import type { Subject } from './failures.ts'
import { keepsSourceIds } from './versions.ts'

export type ClientDeps = {
  egress: Pick<Egress, 'request'>
  breakers: Breakers
  /** The places and tokens of helpdesks that were seen to drop the source id of a message. */
  dropping: Set<string>
  clock: Pick<Clock, 'now'>
  timeoutMs: number
}

export type Call<T> = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  /** The path is below the account, except for the version of the installation. */
  isGlobal?: true
  /** What the path names besides the account; a 404 is about it. */
  about: Subject
  json?: object
  multipart?: MultipartBody
  /** Undefined when the answer does not have the expected form. */
  read: (json: unknown) => T | undefined
}

// The longest list is a hundred messages; one of them may have 150,000 characters.
const maxAnswerBytes = 32 * 1024 * 1024

export class ChatwootClient {
  readonly destination: InboxAccess
  /** The place and the token. Callers share answers only under the same key. */
  readonly access: string
  readonly #deps: ClientDeps
  readonly #root: string
  readonly #origin: string

  constructor(deps: ClientDeps, destination: InboxAccess) {
    this.#deps = deps
    this.destination = destination
    this.access = accessKey(destination)
    this.#root = destination.baseUrl.replace(/(?<!\/)\/+$/, '')
    this.#origin = new URL(destination.baseUrl).origin
  }

  /** Fails at once while the destination rests. */
  ask<T>(call: Call<T>): Promise<T> {
    const { breakers } = this.#deps
    return breakers.run(
      this.access,
      () => this.#send(call),
      () => this.#send(this.#question()),
    )
  }

  /**
   * Rejects unless the helpdesk inbox can be used. Asks also while the destination rests. Resolves to the identifier of the
   * helpdesk inbox, which Chatwoot shows to administrators and to agents who are members of the inbox.
   */
  async probe(): Promise<string | null> {
    const inbox = await this.#deps.breakers.watch(this.access, () => this.#send(this.#question()))
    if (this.#deps.dropping.has(this.access)) await this.#assertUpdated()
    const identifier = 'inbox_identifier' in inbox ? inbox.inbox_identifier : null
    return typeof identifier === 'string' && identifier !== '' ? identifier : null
  }

  /** Without source ids a message cannot be found again, and a message of the phone looks like one of an agent. */
  assertKeepsSourceIds(): void {
    if (this.#deps.dropping.has(this.access)) throw tooOldVersion(this.destination)
  }

  /** The helpdesk dropped the source id of a message. Returns the sentence for the operator. */
  noteDroppedSourceId(): string {
    this.#deps.dropping.add(this.access)
    return tooOldVersion(this.destination).message
  }

  /** Rejects until the helpdesk names a version that keeps source ids. */
  async #assertUpdated(): Promise<void> {
    const read = (json: unknown) => (isRecord(json) && 'version' in json ? String(json.version) : '')
    const version = await this.#send({ method: 'GET', path: '/api', isGlobal: true, about: 'version', read })
    if (!keepsSourceIds(version)) throw tooOldVersion(this.destination)
    this.#deps.dropping.delete(this.access)
  }

  #question(): Call<object> {
    const path = `/inboxes/${this.destination.inboxId}`
    const read = (json: unknown) => {
      if (!isRecord(json)) return undefined
      if ('channel_type' in json && json.channel_type !== 'Channel::Api') throw wrongKindOfInbox(this.destination)
      return json
    }
    return { method: 'GET', path, about: 'inbox', read }
  }

  async #send<T>(call: Call<T>): Promise<T> {
    const asked = { method: call.method, about: call.about, destination: this.destination }
    let answer: Answer
    try {
      answer = await this.#request(call)
    } catch (error) {
      throw error instanceof EgressError ? explainSilence(asked, error) : error
    }
    if (answer.status < 200 || answer.status > 299) throw explainAnswer(asked, answer, this.#deps.clock.now())
    const result = call.read(parseJson(answer))
    if (result === undefined) throw strangeAnswer(asked, answer)
    return result
  }

  #request({ method, path, isGlobal, json, multipart }: Call<unknown>): Promise<Answer> {
    const below = isGlobal ? this.#root : `${this.#root}/api/v1/accounts/${this.destination.accountId}`
    const headers: Record<string, string> = {
      'Api-Access-Token': this.destination.apiToken,
      Accept: 'application/json',
    }
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

function parseJson(answer: Answer): unknown {
  try {
    return answer.json()
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
