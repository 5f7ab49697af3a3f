// Knows with which headers the messages of a sender begin at the helpdesk: the newest messages, for a limited time. The history
// is part of the message map.

import type { ChatId, InstanceName, NetworkMessageId } from '../../../core/ids.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import type { Duties } from '../../../core/nodes/duties.ts'
import { unlessLost } from '../../../core/nodes/hold.ts'
import type { HoldOf, NodeHold } from '../../../core/nodes/hold.ts'
import type { Clock } from '../../../lib/clock.ts'
import { batchSize, deleteInBatches } from '../../../storage/stores/delete-in-batches.ts'
import type { HeaderOwner, HeaderStore } from '../../../storage/stores/messages/header-store.ts'
import type { MergedPeople } from '../../people/people.ts'

/** A message that begins with a header. `id` names it within the history. */
export type TrackedHeader = {
  id: string
  chat: ChatId
  networkId: NetworkMessageId
  messageId: number
  header: string
}

export type PostedHeader = HeaderOwner & Omit<TrackedHeader, 'id'>

export type HeaderLimits = { ttlMs: number; perSender: number }

export type HeaderHistory = PerInstance & {
  /** The helpdesk has taken a message with a header. */
  note(posted: PostedHeader): void
  /** The newest first. */
  find(owner: HeaderOwner): Promise<readonly TrackedHeader[]>
  /** The helpdesk shows these messages of the owner with another header now. */
  update(owner: HeaderOwner, ids: readonly string[], header: string): Promise<void>
  merged(instance: InstanceName, ids: MergedPeople): void
  /** Forgets what is too old or too much. */
  prune(): Promise<void>
}

type Deps = {
  store: HeaderStore
  limits: HeaderLimits
  holdOf: HoldOf
  nodeHold: () => NodeHold
  duties: Pick<Duties, 'isFirst'>
  clock: Clock
}

const maxSenders = 10_000

export class StoredHeaderHistory implements HeaderHistory, PerInstance {
  readonly #deps: Deps
  /** The senders who wrote since the history was pruned last. The history of the others has not grown. */
  readonly #grown = new Map<string, HeaderOwner>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The header itself is stored in the commit that completes the message. */
  note({ instance, destination, sender }: PostedHeader): void {
    if (this.#grown.size < maxSenders) {
      this.#grown.set(`${instance}|${destination}|${sender}`, { instance, destination, sender })
    }
  }

  find(owner: HeaderOwner): Promise<readonly TrackedHeader[]> {
    const { store, limits, clock } = this.#deps
    return store.find(owner, clock.now() - limits.ttlMs, limits.perSender)
  }

  async update({ instance }: HeaderOwner, ids: readonly string[], header: string): Promise<void> {
    await this.#deps.store.update(this.#deps.holdOf(instance), ids, header)
  }

  /** The message map has moved the messages already. */
  merged(): void {
    return undefined
  }

  async prune(): Promise<void> {
    if (this.#deps.duties.isFirst()) await this.#pruneOld()
    for (const [key, owner] of this.#grown) {
      await unlessLost(this.#trim(owner))
      this.#grown.delete(key)
    }
  }

  /** Of all instances. */
  async #pruneOld(): Promise<void> {
    const { store, limits, nodeHold, clock } = this.#deps
    const before = clock.now() - limits.ttlMs
    await deleteInBatches(() => store.prune(nodeHold(), before, batchSize))
  }

  async #trim(owner: HeaderOwner): Promise<void> {
    const { store, limits, holdOf } = this.#deps
    await deleteInBatches(() => store.trim(holdOf(owner.instance), owner, limits.perSender, batchSize))
  }

  leave(instance: InstanceName): void {
    for (const [key, owner] of this.#grown) if (owner.instance === instance) this.#grown.delete(key)
  }
}
