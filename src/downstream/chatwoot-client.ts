// Calls one inbox of a Chatwoot, and makes no calls while its circuit breaker is open.

import { accessKey } from '../core/downstream.ts'
import type { InboxAccess } from '../core/downstream.ts'
import type { BoundedMap } from '../lib/bounded-map.ts'
import type { Breakers } from './breaker.ts'
import { versionCall } from './account-json.ts'
import { ChatwootCalls } from './chatwoot-calls.ts'
import type { Call, CallDeps } from './chatwoot-calls.ts'
import { tooOldVersion, wrongKindOfInbox } from './failures.ts'
import { asText } from './json-values.ts'
import { keepsSourceIds } from './versions.ts'

export type ClientDeps = CallDeps & {
  breakers: Breakers
  /** The places and tokens of helpdesks that were seen to drop the source id of a message. */
  dropping: Set<string>
  /** The identifiers of helpdesk inboxes as the last probe told them, by place and token. */
  identifiers: BoundedMap<string>
}

export class ChatwootClient {
  readonly destination: InboxAccess
  /** The place and the token. Callers share answers only under the same key. */
  readonly access: string
  readonly #deps: ClientDeps
  readonly #calls: ChatwootCalls

  constructor(deps: ClientDeps, destination: InboxAccess) {
    this.#deps = deps
    this.destination = destination
    this.access = accessKey(destination)
    this.#calls = new ChatwootCalls(deps, destination)
  }

  /** Fails at once while the destination rests. */
  ask<T>(call: Call<T>): Promise<T> {
    const { breakers } = this.#deps
    return breakers.run(
      this.access,
      () => this.#calls.send(call),
      () => this.#calls.send(this.#question()),
    )
  }

  /** Like ask, for calls beside the messages: their failures do not count, so that they never stop a message. */
  askBeside<T>(call: Call<T>): Promise<T> {
    return this.#deps.breakers.beside(this.access, () => this.#calls.send(call))
  }

  /**
   * Rejects unless the helpdesk inbox can be used. Asks also while the destination rests. Resolves to the identifier of the
   * helpdesk inbox, which Chatwoot shows to administrators and to agents who are members of the inbox.
   */
  async probe(): Promise<string | null> {
    const inbox = await this.#deps.breakers.watch(this.access, () => this.#calls.send(this.#question()))
    if (this.#deps.dropping.has(this.access)) await this.#assertUpdated()
    const identifier = 'inbox_identifier' in inbox ? inbox.inbox_identifier : null
    const { identifiers } = this.#deps
    if (typeof identifier === 'string' && identifier !== '') {
      identifiers.set(this.access, identifier)
      return identifier
    }
    identifiers.delete(this.access)
    return null
  }

  /** The identifier as the last probe told it. Probes if none did. */
  async identifier(): Promise<string | null> {
    return this.#deps.identifiers.get(this.access) ?? this.probe()
  }

  /** The identifier may be wrong by now. */
  forgetIdentifier(): void {
    this.#deps.identifiers.delete(this.access)
  }

  async timeZone(): Promise<string | null> {
    const inbox = await this.askBeside(this.#question())
    return 'timezone' in inbox ? asText(inbox.timezone) : null
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
    const { version } = await this.#calls.send(versionCall)
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
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
