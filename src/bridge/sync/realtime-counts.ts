// Counts what became of real-time events: each processed event once.

import type { InstanceName } from '../../core/ids.ts'
import type { Metrics } from '../../ledger/metrics.ts'

/** The results that each feature can have. */
export type SyncResults = {
  avatar: 'ok' | 'wa_miss' | 'wa_error' | 'ds_error' | 'throttled'
  typing: 'ok' | 'no_contact' | 'no_conv' | 'throttled' | 'ds_error'
  read_receipt: 'ok' | 'no_contact' | 'no_conv' | 'filtered' | 'ds_error'
  /** `limit`: the network takes no more labels. `not_shown`: the helpdesk account does not have the label. */
  labels:
    ('ok' | 'duplicate' | 'no_contact' | 'no_conv' | 'not_business' | 'limit' | 'not_shown') | ('wa_error' | 'ds_error')
  retroactive_name:
    'ok' | 'duplicate' | 'skip_disabled' | 'skip_fullsync' | 'skip_empty_name' | 'no_contact' | 'ds_error'
}

type Deps = { metrics: Pick<Metrics, 'realtimeEvents'> }

export class RealtimeCounts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  count<Feature extends keyof SyncResults>(
    instance: InstanceName,
    feature: Feature,
    result: SyncResults[Feature],
    times = 1,
  ): void {
    this.#deps.metrics.realtimeEvents.inc({ feature, result, instance }, times)
  }
}
