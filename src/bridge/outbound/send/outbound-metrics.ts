// Counts and tells what happens to outgoing messages.

import type { EventExtras, LifecycleEvent } from '../../../core/lifecycle.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { BanRisk, BanRiskAlert } from '../../../guard/ban-risk.ts'
import type { Metrics } from '../../../ledger/metrics.ts'
import type { Usage } from '../../../ledger/usage.ts'

export type PartKind = 'text' | 'media' | 'reaction' | 'edit' | 'revoke'
export type Who = { instance: string; owner_tag: string }

type Deps = {
  metrics: Pick<Metrics, 'messages' | 'dispatchErrors' | 'spamguardBlocks'>
  usage: Pick<Usage, 'count'>
  banRisk: BanRisk
  announce: (instance: string, event: LifecycleEvent, extras: EventExtras) => void
  /** The jid of the account itself: what it writes to its own phone puts nobody at risk. */
  ownJid: (instance: string) => string | null
}

export class OutboundMetrics {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  acknowledged({ instance, owner_tag }: Who, address: string, kind: PartKind): void {
    const { metrics, usage } = this.#deps
    if (kind === 'revoke' || kind === 'edit') return
    metrics.messages.inc({ direction: 'out', instance, owner_tag })
    usage.count(instance, owner_tag, 'messages_out')
    this.#sample(instance, address, true)
  }

  /** A part that will not be delivered. */
  lost({ instance, owner_tag }: Who, address: string, kind: PartKind): void {
    this.#deps.metrics.dispatchErrors.inc({ direction: 'out', instance, kind, owner_tag })
    if (kind !== 'revoke' && kind !== 'edit') this.#sample(instance, address, false)
  }

  blocked({ instance, owner_tag }: Who, extras: EventExtras): void {
    this.#deps.metrics.spamguardBlocks.inc({ instance, owner_tag })
    this.#deps.usage.count(instance, owner_tag, 'spamguard_blocks')
    this.#deps.announce(instance, 'spam_blocked', extras)
  }

  expired({ id, instance, remote_jid }: OutboxRow, text: string): void {
    this.#deps.announce(instance, 'outgoing_expired', { queue_id: id, remote_jid, preview: previewOf(text) })
  }

  strike(instance: string, code: number, reason: string): void {
    this.#deps.announce(instance, 'strike', { reason, code })
  }

  /** Looks whether a risk has risen or cleared with the time that passed. */
  evaluate(): void {
    for (const instance of this.#deps.banRisk.instances()) this.#tell(instance, this.#deps.banRisk.evaluate(instance))
  }

  #sample(instance: string, address: string, delivered: boolean): void {
    if (address === this.#deps.ownJid(instance)) return
    this.#tell(instance, this.#deps.banRisk.record(instance, address, delivered))
  }

  #tell(instance: string, alerts: readonly BanRiskAlert[]): void {
    if (alerts.length === 0) return
    const { score, level, velocity, diversity, ratio } = this.#deps.banRisk.snapshot(instance)
    for (const alert of alerts) {
      const extras = { alert, score, level, velocity, diversity, delivery_ratio: ratio }
      this.#deps.announce(instance, 'ban_risk', extras)
    }
  }
}

/** The first 60 characters. */
export function previewOf(text: string): string {
  return Array.from(text).slice(0, 60).join('')
}
