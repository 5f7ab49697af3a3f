// Counts and announces what happens to outgoing messages.

import type { InstanceName, Jid } from '../../../core/ids.ts'
import type { EventExtras } from '../../../core/lifecycle/lifecycle.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { BanRisk, BanRiskAlert } from '../../../guard/ban-risk.ts'
import type { Metrics } from '../../../ledger/metrics.ts'
import type { Usage } from '../../../ledger/usage.ts'
import type { SendingAccounts } from './sending-accounts.ts'

export type PartKind = 'text' | 'media' | 'reaction' | 'edit' | 'revoke'
export type Who = { instance: InstanceName; ownerTag: string }

type Deps = {
  metrics: Pick<Metrics, 'messages' | 'dispatchErrors' | 'spamguardBlocks' | 'callbacksReordered'>
  usage: Pick<Usage, 'count'>
  banRisk: BanRisk
  accounts: Pick<SendingAccounts, 'announce' | 'ownJid'>
}

export class OutboundMetrics {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  acknowledged({ instance, ownerTag }: Who, address: Jid, kind: PartKind): void {
    const { metrics, usage } = this.#deps
    if (kind === 'revoke' || kind === 'edit') return
    metrics.messages.inc({ direction: 'out', instance, owner_tag: ownerTag })
    usage.count(instance, ownerTag, 'messages_out')
    this.#sample(instance, address, true)
  }

  /** A part will not be delivered. */
  lost({ instance, ownerTag }: Who, address: Jid, kind: PartKind): void {
    this.#deps.metrics.dispatchErrors.inc({ direction: 'out', instance, kind, owner_tag: ownerTag })
    if (kind !== 'revoke' && kind !== 'edit') this.#sample(instance, address, false)
  }

  blocked({ instance, ownerTag }: Who, extras: EventExtras): void {
    this.#deps.metrics.spamguardBlocks.inc({ instance, owner_tag: ownerTag })
    this.#deps.usage.count(instance, ownerTag, 'spamguard_blocks')
    this.#deps.accounts.announce(instance, 'spam_blocked', extras)
  }

  /** A callback waited for one that came later. */
  reordered(instance: InstanceName): void {
    this.#deps.metrics.callbacksReordered.inc({ instance })
  }

  expired({ id, instance, remoteJid }: OutboxRow, text: string): void {
    const extras = { queue_id: id, remote_jid: remoteJid, preview: previewOf(text) }
    this.#deps.accounts.announce(instance, 'outgoing_expired', extras)
  }

  strike(instance: InstanceName, code: number, reason: string): void {
    this.#deps.accounts.announce(instance, 'strike', { reason, code })
  }

  /** Time alone can raise a risk, or clear it. */
  evaluate(): void {
    const { banRisk } = this.#deps
    for (const instance of banRisk.instances()) this.#announce(instance, banRisk.evaluate(instance))
  }

  /** Messages to the own phone are no risk. */
  #sample(instance: InstanceName, address: Jid, delivered: boolean): void {
    if (address === this.#deps.accounts.ownJid(instance)) return
    this.#announce(instance, this.#deps.banRisk.record(instance, address, delivered))
  }

  #announce(instance: InstanceName, alerts: readonly BanRiskAlert[]): void {
    if (alerts.length === 0) return
    const { score, level, velocity, diversity, ratio } = this.#deps.banRisk.snapshot(instance)
    for (const alert of alerts) {
      const extras = { alert, score, level, velocity, diversity, delivery_ratio: ratio }
      this.#deps.accounts.announce(instance, 'ban_risk', extras)
    }
  }
}

/** The first 60 characters. */
export function previewOf(text: string): string {
  return Array.from(text.slice(0, 120)).slice(0, 60).join('')
}
