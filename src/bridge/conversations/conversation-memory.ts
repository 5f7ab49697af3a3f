// Remembers which conversation a chat has at the helpdesk, and for how long that may be believed without a look.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConversationKey, KnownConversation } from '../../storage/stores/people/contact-store.ts'

/** A conversation. `newest` is the newest message id that we know of there. It grows with every answer. */
export type OpenConversation = { id: number; newest: number }

/** The conversation of a chat. `sourceId` is the address of its contact in the helpdesk inbox. */
export type ChatConversation = OpenConversation & { sourceId: string }

export type RememberedConversation = {
  known: KnownConversation
  open: ChatConversation
  checkedAt: number
  /** The former addresses whose contact was merged into this one. */
  merged: string
}

type Deps = { clock: Pick<Clock, 'now' | 'monotonic'>; settingsOf: SettingsOf }

const maxCached = 20_000
const cachedMs = 3_600_000
/**
 * How long the state of a conversation is not asked again. In the mode `new` it matters whether an agent has resolved the
 * conversation. In the mode `reopen` it matters only whether the conversation was deleted.
 */
const trustedMs = { new: 5_000, reopen: 60_000 }

export class ConversationMemory {
  readonly #deps: Deps
  readonly #entries: BoundedMap<RememberedConversation>
  /** When we heard that a conversation was resolved; by destination and conversation. */
  readonly #heardResolved: BoundedMap<number>

  constructor(deps: Deps) {
    this.#deps = deps
    const { clock } = deps
    this.#entries = new BoundedMap({ clock, max: maxCached, ttlMs: cachedMs })
    this.#heardResolved = new BoundedMap({ clock, max: maxCached, ttlMs: Math.max(...Object.values(trustedMs)) })
  }

  get(key: ConversationKey): RememberedConversation | undefined {
    return this.#entries.get(conversationText(key))
  }

  set(key: ConversationKey, remembered: RememberedConversation): void {
    this.#entries.set(conversationText(key), remembered)
  }

  delete(key: ConversationKey): void {
    this.#entries.delete(conversationText(key))
  }

  /** What we heard after we began to look counts: the answer may be older. */
  isTrusted({ checkedAt, open }: RememberedConversation, { instance, destination }: ConversationKey): boolean {
    const { clock, settingsOf } = this.#deps
    if (clock.monotonic() - checkedAt >= trustedMs[settingsOf(instance).conversationMode]) return false
    return (this.#heardResolved.get(`${destination}|${open.id}`) ?? -Infinity) < checkedAt
  }

  hearResolved(destination: DestinationKey, conversationId: number): void {
    this.#heardResolved.set(`${destination}|${conversationId}`, this.#deps.clock.monotonic())
  }

  /** Forgets the conversations of the contact, of all instances. */
  deleteContact(destination: DestinationKey, contactId: number): void {
    this.#entries.deleteWhere((key, { known }) => known.contactId === contactId && key.includes(`|${destination}|`))
  }

  deleteInstance(instance: InstanceName): void {
    this.#entries.deleteWhere((key) => key.startsWith(`${instance}|`))
  }
}

/** The key as one text. */
export function conversationText({ instance, destination, chat }: ConversationKey): string {
  return `${instance}|${destination}|${chat}`
}
