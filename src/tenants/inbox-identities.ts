// Knows which destination a helpdesk inbox is. Asks the helpdesk for the identifier of the inbox at the first use in this
// process, after the destination was held, and every ten minutes in the background. In between, the answer is in memory.

import { inboxPlace } from '../core/downstream.ts'
import type { Destination, Downstream, InboxAccess } from '../core/downstream.ts'
import type { DestinationKey } from '../core/ids.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { withDeadline } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import { Lane } from '../lib/queues/lane.ts'
import type { Log } from '../lib/log.ts'
import type { DestinationStore } from '../storage/stores/accounts/destination-store.ts'

type Deps = {
  store: Pick<DestinationStore, 'keyAt' | 'identify'>
  downstream: Pick<Downstream, 'helpdesk'>
  clock: Clock
  log: Log
}

type Known = { key: DestinationKey; checkAt: number }
type Asking = { since: number; answer: Promise<DestinationKey> }

const maxEntries = 10_000
const checkMs = 10 * 60_000
// Work that began before the rows were moved may store more rows under the old key. They are moved at the next check.
const checkAfterMoveMs = 10_000
// The helpdesk waits 5 s for the answer to a callback.
const callbackPatienceMs = 2000
const askAgainMs = 30_000

export class InboxIdentities {
  readonly #deps: Deps
  readonly #known: BoundedMap<Known>
  readonly #asking = new Map<string, Asking>()
  readonly #failed: BoundedMap<true>
  /** Keys whose rows were moved in this process. */
  readonly #moved = new Map<DestinationKey, DestinationKey>()
  readonly #lane = new Lane()

  constructor(deps: Deps) {
    const { clock } = deps
    this.#deps = deps
    this.#known = new BoundedMap({ clock, max: maxEntries, ttlMs: Infinity })
    this.#failed = new BoundedMap({ clock, max: maxEntries, ttlMs: askAgainMs })
  }

  /** Rejects with a DownstreamError when the helpdesk cannot be asked. */
  async identify(access: InboxAccess): Promise<Destination> {
    return this.recall(access) ?? { ...access, key: await this.#ask(access).answer }
  }

  /** Undefined when the helpdesk must be asked. */
  recall(access: InboxAccess): Destination | undefined {
    const key = this.#recall(access)
    return key === undefined ? undefined : { ...access, key }
  }

  /**
   * For callbacks. Asks for 2 s at most, and then uses the key that the place had last: a wrong API token, or a helpdesk that
   * answers slowly, must not keep an agent's message from the customer.
   */
  identifyInTime(access: InboxAccess): Promise<Destination> {
    const key = this.#recall(access)
    return key === undefined ? this.#identifyInTime(access) : Promise.resolve({ ...access, key })
  }

  async #identifyInTime(access: InboxAccess): Promise<Destination> {
    const key = await this.#askInTime(access)
    if (key !== undefined) return { ...access, key }
    return { ...access, key: await this.#deps.store.keyAt(inboxPlace(access)), isUnidentified: true }
  }

  /** Without asking the helpdesk: the key that the helpdesk inbox had last. */
  async lastKeyOf(access: InboxAccess): Promise<DestinationKey> {
    return this.#known.get(nameOf(access))?.key ?? this.#deps.store.keyAt(inboxPlace(access))
  }

  /** The next use asks the helpdesk again before it gets a destination. */
  forget(access: InboxAccess): void {
    this.#known.delete(nameOf(access))
  }

  /** Whether a key that was read earlier means this destination: its rows may have been moved since. */
  isSame(earlier: DestinationKey, { key }: Destination): boolean {
    return earlier === key || this.#moved.get(earlier) === key
  }

  #recall(access: InboxAccess): DestinationKey | undefined {
    const { clock, log } = this.#deps
    const known = this.#known.get(nameOf(access))
    if (known && known.checkAt <= clock.monotonic()) {
      known.checkAt = clock.monotonic() + checkMs
      this.#ask(access).answer.catch((err: unknown) => {
        log.debug({ err, destination: inboxPlace(access) }, 'a helpdesk inbox could not be identified again')
      })
    }
    return known?.key
  }

  async #askInTime(access: InboxAccess): Promise<DestinationKey | undefined> {
    if (this.#failed.has(nameOf(access))) return undefined
    const { clock, log } = this.#deps
    const { since, answer } = this.#ask(access)
    const leftMs = Math.max(0, since + callbackPatienceMs - clock.monotonic())
    try {
      return await withDeadline(clock, leftMs, answer, () => new Error('the helpdesk did not answer in time'))
    } catch (err) {
      log.debug(
        { err, destination: inboxPlace(access) },
        'a callback is followed before its helpdesk inbox is identified',
      )
      return undefined
    }
  }

  /** Callers that ask at the same time share the answer. */
  #ask(access: InboxAccess): Asking {
    const name = nameOf(access)
    const running = this.#asking.get(name)
    if (running) return running
    const answer = this.#identifyNow(access).finally(() => this.#asking.delete(name))
    answer.catch(ignoreRejection)
    const asking = { since: this.#deps.clock.monotonic(), answer }
    this.#asking.set(name, asking)
    return asking
  }

  async #identifyNow(access: InboxAccess): Promise<DestinationKey> {
    const { store, downstream, clock } = this.#deps
    const name = nameOf(access)
    const place = inboxPlace(access)
    try {
      const identifier = await downstream.helpdesk(access).probe()
      const { key, checkMs: nextMs } =
        identifier === null ? { key: await store.keyAt(place), checkMs } : await this.#resolve(place, identifier)
      this.#known.set(name, { key, checkAt: clock.monotonic() + nextMs })
      this.#failed.delete(name)
      return key
    } catch (error) {
      this.#failed.set(name, true)
      throw error
    }
  }

  /** One after the other: two places of one helpdesk inbox must not both become its key. */
  async #resolve(place: string, identifier: string): Promise<{ key: DestinationKey; checkMs: number }> {
    const { store, log } = this.#deps
    const { key, before, movedTo } = await this.#lane.run(() => store.identify(place, identifier))
    if (key !== before) {
      log.info({ destination: place, key, before }, 'a helpdesk inbox has another key than the one that was used here')
      // Other tokens may be in use for the same place.
      this.#known.deleteWhere(() => true)
    }
    if (movedTo === null || this.#moved.get(place) === movedTo) return { key, checkMs }
    this.#moved.set(place, movedTo)
    return { key, checkMs: checkAfterMoveMs }
  }
}

function nameOf({ baseUrl, accountId, inboxId, apiToken }: InboxAccess): string {
  return JSON.stringify([baseUrl, accountId, inboxId, apiToken])
}
