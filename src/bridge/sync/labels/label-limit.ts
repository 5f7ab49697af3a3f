// Says once per instance that the network takes no more labels.

import type { InstanceName } from '../../../core/ids.ts'
import { mostLabels } from '../../../core/sync/labels.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import type { Log } from '../../../lib/log.ts'

export class LabelLimit implements PerInstance {
  readonly #log: Log
  readonly #told = new Set<InstanceName>()

  constructor({ log }: { log: Log }) {
    this.#log = log
  }

  reached(instance: InstanceName): void {
    if (this.#told.has(instance)) return
    this.#told.add(instance)
    this.#log.warn({ instance, most: mostLabels }, 'labels of agents are not carried: WhatsApp takes no more labels')
  }

  leave(instance: InstanceName): void {
    this.#told.delete(instance)
  }
}
