// Rewrites the headers of the earlier messages of a person, in the database of the helpdesk.

import type { Destination } from '../../../core/downstream.ts'
import type { HelpdeskDatabase } from '../../../core/helpdesk/helpdesk-database.ts'
import type { ChatId, InstanceName } from '../../../core/ids.ts'
import type { PersonRecord } from '../../../storage/stores/people/people-store.ts'
import type { EventContexts } from '../../conversations/event-context.ts'
import type { KnownPerson } from '../../people/names.ts'
import type { HeaderHistory, TrackedHeader } from './header-history.ts'

type Deps = {
  /** Null without DOWNSTREAM_DB_URL. */
  database: Pick<HelpdeskDatabase, 'serves' | 'rewriteHeaders'> | null
  history: Pick<HeaderHistory, 'find' | 'update'>
  contexts: Pick<EventContexts, 'knownIn'>
  /** The header that a message of this person gets now. */
  headerOf: (instance: InstanceName, person: KnownPerson) => string
}

/** `tracked` counts the messages whose header is known, `rewritten` those that were changed. */
export type Rewritten = { tracked: number; rewritten: number }

const batchSize = 500

export class HeaderRewriter {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Rejects with a HelpdeskDatabaseError. */
  async rewrite(instance: InstanceName, person: PersonRecord, destination: Destination): Promise<Rewritten> {
    const { database, history } = this.#deps
    if (!database?.serves(destination)) return { tracked: 0, rewritten: 0 }
    const owner = { instance, destination: destination.key, sender: person.id }
    const tracked = await history.find(owner)
    let rewritten = 0
    for (const [chat, headers] of Map.groupBy(tracked, (each) => each.chat)) {
      const to = await this.#headerIn(instance, person, chat)
      if (to === null) continue
      const old = headers.filter(({ header }) => header !== to)
      for (let at = 0; at < old.length; at += batchSize) {
        const batch = old.slice(at, at + batchSize)
        const { current, changed } = await database.rewriteHeaders(destination, changesOf(batch, to))
        const done = new Set(current)
        const ids = batch.flatMap(({ id, messageId }) => (done.has(messageId) ? [id] : []))
        await history.update(owner, ids, to)
        rewritten += changed
      }
    }
    return { tracked: tracked.length, rewritten }
  }

  /** Null when the header cannot be told now. */
  async #headerIn(instance: InstanceName, person: PersonRecord, chat: ChatId): Promise<string | null> {
    const known = await this.#deps.contexts.knownIn(instance, person, chat)
    return (known && this.#deps.headerOf(instance, known)) || null
  }
}

function changesOf(headers: readonly TrackedHeader[], to: string) {
  return headers.map(({ messageId, networkId, header }) => ({ messageId, sourceId: networkId, from: header, to }))
}
