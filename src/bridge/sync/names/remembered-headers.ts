// Keeps the history of headers in memory only. A restart forgets it.

import type { InstanceName } from '../../../core/ids.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { HeaderOwner } from '../../../storage/stores/messages/header-store.ts'
import type { MergedPeople } from '../../people/people.ts'
import type { HeaderHistory, HeaderLimits, PostedHeader, TrackedHeader } from './header-history.ts'

type Remembered = TrackedHeader & { until: number }

type Deps = { limits: HeaderLimits; clock: Clock }

const maxSenders = 1000

export class RememberedHeaders implements HeaderHistory, PerInstance {
  readonly #deps: Deps
  /** By sender, the newest message first. */
  readonly #senders: BoundedMap<{ owner: HeaderOwner; headers: readonly Remembered[] }>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#senders = new BoundedMap({ clock: deps.clock, max: maxSenders, ttlMs: deps.limits.ttlMs })
  }

  note({ instance, destination, sender, chat, networkId, messageId, header }: PostedHeader): void {
    const { clock, limits } = this.#deps
    const until = clock.monotonic() + limits.ttlMs
    const newest = { id: String(messageId), chat, networkId, messageId, header, until }
    this.#set({ instance, destination, sender }, [newest, ...this.#headersOf({ instance, destination, sender })])
  }

  find(owner: HeaderOwner): Promise<readonly TrackedHeader[]> {
    return Promise.resolve(this.#headersOf(owner))
  }

  update(owner: HeaderOwner, ids: readonly string[], header: string): Promise<void> {
    const changed = new Set(ids)
    const headers = this.#headersOf(owner).map((each) => (changed.has(each.id) ? { ...each, header } : each))
    if (headers.length > 0) this.#set(owner, headers)
    return Promise.resolve()
  }

  merged(instance: InstanceName, { keep, drop }: MergedPeople): void {
    const dropped: HeaderOwner[] = []
    this.#senders.deleteWhere((_, { owner }) => {
      if (owner.instance === instance && owner.sender === drop) dropped.push(owner)
      return false
    })
    for (const owner of dropped) {
      const kept = { ...owner, sender: keep }
      const both = [...this.#headersOf(kept), ...this.#headersOf(owner)]
      this.#senders.delete(keyOf(owner))
      this.#set(
        kept,
        both.sort((one, other) => other.messageId - one.messageId),
      )
    }
  }

  prune(): Promise<void> {
    const now = this.#deps.clock.monotonic()
    this.#senders.deleteWhere((_, { headers }) => headers.every(({ until }) => until <= now))
    return Promise.resolve()
  }

  leave(instance: InstanceName): void {
    this.#senders.deleteWhere((_, { owner }) => owner.instance === instance)
  }

  #headersOf(owner: HeaderOwner): readonly Remembered[] {
    const now = this.#deps.clock.monotonic()
    return (this.#senders.get(keyOf(owner))?.headers ?? []).filter(({ until }) => until > now)
  }

  #set(owner: HeaderOwner, headers: readonly Remembered[]): void {
    this.#senders.set(keyOf(owner), { owner, headers: headers.slice(0, this.#deps.limits.perSender) })
  }
}

function keyOf({ instance, destination, sender }: HeaderOwner): string {
  return `${instance}|${destination}|${sender}`
}
