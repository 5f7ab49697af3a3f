// Knows which accounts cannot reach WhatsApp, and why. Many accounts fail for the same cause, so the log names each cause once.
//
// A way leads to WhatsApp: through the own proxy of an instance, or as the settings of the service say.
// reached → away   when an attempt of one account of the way fails before the login
// away → reached   when every account of the way has reached WhatsApp again, or does not try any more

import type { InstanceName } from '../core/ids.ts'
import { proxyHost } from '../core/network-proxy.ts'
import type { Closing, Unreachable, UnreachableCause } from '../core/network/closing.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { Clock } from '../lib/clock.ts'
import { getOrCreate } from '../lib/keyed.ts'
import type { Log } from '../lib/log.ts'

type Deps = { clock: Clock; log: Log }
/** An attempt that failed. An account without a session only tries to pair. */
export type FailedAttempt = {
  hasSession: boolean
  networkProxy: string | null
  closing: Pick<Closing, 'reason'> & { unreachable: Unreachable }
}
type Failing = { way: string; hasSession: boolean; sentence: string; unreachable: Unreachable; since: number }
/** `told` are the causes that the log has named since the outage began, with the monotonic time of their last failure. */
type WayOutage = { since: number; told: Map<UnreachableCause, number>; instances: Set<InstanceName> }
export type UnreachableAccounts = {
  reason: UnreachableCause
  sentence: string
  cure: string
  instances: InstanceName[]
  since: number
}

/** The way of instances without a proxy of their own. */
const sharedWay = ''
/** A cause that no account had for so long is named again. Attempts come at least every 5 minutes. */
const forgottenMs = 3_600_000

export class Reachability implements PerInstance {
  readonly #deps: Deps
  readonly #failing = new Map<InstanceName, Failing>()
  readonly #outages = new Map<string, WayOutage>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The accounts that have a session and cannot use it, by their cause. */
  list(): UnreachableAccounts[] {
    const found = new Map<string, UnreachableAccounts>()
    for (const [instance, { way, hasSession, sentence, unreachable, since }] of this.#failing) {
      if (!hasSession) continue
      const { cause: reason, cure } = unreachable
      const group = getOrCreate(found, `${reason} ${way}`, () => ({ reason, sentence, cure, instances: [], since }))
      group.instances.push(instance)
      group.since = Math.min(group.since, since)
    }
    return [...found.values()]
  }

  /** Whether linked accounts cannot reach WhatsApp on the way that the settings of the service name. */
  get isSharedWayAway(): boolean {
    return [...this.#failing.values()].some(({ way, hasSession }) => way === sharedWay && hasSession)
  }

  failed(instance: InstanceName, { hasSession, networkProxy, closing }: FailedAttempt): void {
    const { reason: sentence, unreachable } = closing
    const way = networkProxy === null ? sharedWay : proxyHost(networkProxy)
    const known = this.#failing.get(instance)
    // The instance has another proxy by now.
    if (known && known.way !== way) this.leave(instance)
    const { clock, log } = this.#deps
    const now = clock.now()
    this.#failing.set(instance, { way, hasSession, sentence, unreachable, since: known?.since ?? now })
    const newOutage = (): WayOutage => ({ since: now, told: new Map(), instances: new Set() })
    const outage = getOrCreate(this.#outages, way, newOutage)
    outage.instances.add(instance)
    const { cause, cure } = unreachable
    const failedAt = outage.told.get(cause) ?? -Infinity
    outage.told.set(cause, clock.monotonic())
    if (clock.monotonic() - failedAt < forgottenMs) return
    const facts = { instance, reason: cause, sentence, cure, ...shown(way) }
    log.warn(facts, 'WhatsApp cannot be reached')
  }

  /** The account has reached WhatsApp. */
  reached(instance: InstanceName): void {
    const { clock, log } = this.#deps
    const way = this.#failing.get(instance)?.way
    const ended = this.#remove(instance)
    if (!ended) return
    const seconds = Math.max(0, Math.round((clock.now() - ended.since) / 1000))
    log.info({ instance, seconds, ...shown(way ?? sharedWay) }, 'WhatsApp is reached again')
  }

  /** The account does not try any more. */
  leave(instance: InstanceName): void {
    this.#remove(instance)
  }

  /** The outage that has ended with this account, if one has. */
  #remove(instance: InstanceName): WayOutage | undefined {
    const failing = this.#failing.get(instance)
    if (!failing) return undefined
    this.#failing.delete(instance)
    const outage = this.#outages.get(failing.way)
    outage?.instances.delete(instance)
    if (outage?.instances.size !== 0) return undefined
    this.#outages.delete(failing.way)
    return outage
  }
}

function shown(way: string): { proxy?: string } {
  return way === sharedWay ? {} : { proxy: way }
}
