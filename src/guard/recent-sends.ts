// Tells the guards of an account what the account sent before this process took it: otherwise a restart would let it send twice
// as much in a minute, and its ban risk would be unknown for ten minutes.

import type { InstanceName, Jid } from '../core/ids.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { Clock } from '../lib/clock.ts'
import { LastReading } from '../lib/last-reading.ts'
import type { RecentSend, RecentSendStore } from '../storage/stores/messages/recent-send-store.ts'
import { banRiskLimits } from './ban-risk.ts'
import type { BanRisk } from './ban-risk.ts'
import type { Pace } from './pace.ts'

/** Many accounts are taken at once, and share one reading. */
const freshMs = 1000
const deadlineMs = 10_000

type Deps = {
  store: Pick<RecentSendStore, 'since'>
  pace: Pick<Pace, 'restore'>
  banRisk: Pick<BanRisk, 'restore'>
  /** Messages to the own phone are no risk. */
  ownJid: (instance: InstanceName) => Jid | null
  /** Messages from before that time were sent by another account: a deleted instance may have had the same name. */
  linkedSince: (instance: InstanceName) => number
  clock: Clock
}

type Sends = ReadonlyMap<InstanceName, readonly RecentSend[]>

export class RecentSends implements PerInstance {
  readonly #deps: Deps
  readonly #reading: LastReading<Sends>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#reading = new LastReading({ read: () => this.#read(), clock: deps.clock, freshMs, deadlineMs })
  }

  async take(instance: InstanceName): Promise<void> {
    const { pace, banRisk, ownJid, linkedSince, clock } = this.#deps
    const since = linkedSince(instance)
    const sends = (await this.#reading.find())?.get(instance)?.filter(({ settledAt }) => settledAt >= since) ?? []
    const parts = sends.flatMap((send) => partsOf(send, clock.monotonic() - Math.max(0, clock.now() - send.settledAt)))
    const own = ownJid(instance)
    pace.restore(
      instance,
      parts.filter(({ delivered }) => delivered).map(({ at }) => at),
    )
    banRisk.restore(
      instance,
      parts.filter(({ recipient }) => recipient !== own),
    )
  }

  /** The guards drop their own memory. */
  leave(): void {}

  async #read(): Promise<Sends> {
    const { store, clock } = this.#deps
    return Map.groupBy(await store.since(clock.now() - banRiskLimits.delivery.windowMs), ({ instance }) => instance)
  }
}

function partsOf({ recipient, sent, refused }: RecentSend, at: number) {
  const part = (delivered: boolean) => ({ at, recipient, delivered })
  return [...Array.from({ length: sent }, () => part(true)), ...Array.from({ length: refused }, () => part(false))]
}
