// Says which choice a customer has made, among those that our newest message in the chat offered.
//
// Most texts are no answers to an offer, so they must cost nothing. The part remembers which chats of an instance were offered
// choices lately, and reads the message map only for texts of these chats. One read per instance and day fills this memory.
// An offer ends with our next message in the chat, also one of the owner's phone, and after 24 hours. All these times are
// those of the network: our own clock may be wrong, and a text may be delivered late.

import type { ChatId, InstanceName, NetworkMessageId } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { Clock } from '../../lib/clock.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import type { OfferStore } from '../../storage/stores/messages/offer-store.ts'
import { findChoice } from './find-choice.ts'

type Deps = { store: Pick<OfferStore, 'chatsWithOffers' | 'newest'>; clock: Clock }

/** A text of a customer. `at` is its time by the clock of the network, `receivedAt` by ours. `quotes` is a quoted message. */
type CustomerText = {
  chatId: ChatId
  text: string
  quotes: NetworkMessageId | null
  at: number
  receivedAt: number
}

/** The chats that were offered choices. When there are too many to remember, any chat may be one of them. */
type Memory = { chats: Set<ChatId>; isFull: boolean; loadedAt: number; loading: Promise<void> | null }

const offerMs = 24 * 3_600_000
/** Our clock and that of the network differ. */
const toleranceMs = 3_600_000
const longestAnswer = 500
const maxChats = 10_000

export class OfferedChoices implements PerInstance {
  readonly #deps: Deps
  readonly #memories = new Map<InstanceName, Memory>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A message with choices is about to be stored as sent. */
  offered(instance: InstanceName, chatId: ChatId): void {
    add(this.#memoryOf(instance), chatId)
  }

  /** The title of the choice that the text names; null when the text is no answer, or is the title itself. */
  async chosen(instance: InstanceName, answer: CustomerText): Promise<string | null> {
    const { chatId, text, quotes, at, receivedAt } = answer
    if (text.length > longestAnswer || !(await this.#mayHaveOffer(instance, chatId))) return null
    const since = receivedAt - offerMs - toleranceMs
    const offer = await this.#deps.store.newest(instance, chatId, at, since)
    if (!offer || at - offer.networkAt > offerMs) return null
    // A customer who quotes another message answers that one.
    if (quotes !== null && quotes !== offer.networkId) return null
    // The network counts in seconds. Within one second the order in which we saw both messages decides.
    if (at === offer.networkAt && receivedAt < offer.claimedAt) return null
    const title = findChoice(text, offer.choices)
    return title === undefined || title === text ? null : title
  }

  /** Two chats of the instance became one. */
  merged(instance: InstanceName): void {
    this.leave(instance)
  }

  leave(instance: InstanceName): void {
    this.#memories.delete(instance)
  }

  async #mayHaveOffer(instance: InstanceName, chatId: ChatId): Promise<boolean> {
    const memory = this.#memoryOf(instance)
    memory.loading ??= this.#load(instance, memory).catch((error: unknown) => {
      memory.loading = null
      throw error
    })
    await memory.loading
    return memory.isFull || memory.chats.has(chatId)
  }

  /** A memory that is older than the longest offer is begun anew. */
  #memoryOf(instance: InstanceName): Memory {
    const now = this.#deps.clock.monotonic()
    const known = this.#memories.get(instance)
    if (known && now - known.loadedAt > offerMs) this.#memories.delete(instance)
    return getOrCreate(this.#memories, instance, () => ({
      chats: new Set<ChatId>(),
      isFull: false,
      loadedAt: now,
      loading: null,
    }))
  }

  async #load(instance: InstanceName, memory: Memory): Promise<void> {
    const { store, clock } = this.#deps
    const since = clock.now() - offerMs - toleranceMs
    for (const chatId of await store.chatsWithOffers(instance, since, maxChats + 1)) add(memory, chatId)
  }
}

function add(memory: Memory, chatId: ChatId): void {
  if (memory.isFull) return
  memory.chats.add(chatId)
  if (memory.chats.size <= maxChats) return
  memory.isFull = true
  memory.chats.clear()
}
