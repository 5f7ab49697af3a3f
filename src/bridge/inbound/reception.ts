// Hears what the network reports: new inbox rows, names, and addresses that belong together.

import type { InstanceName } from '../../core/ids.ts'
import { factsOfEvent, subjectOfEvent } from '../../core/trace/traces.ts'
import type { Traces } from '../../core/trace/traces.ts'
import type { PersonNames, PersonPair, ReceivedRow, Reception } from '../../core/network/reception.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import type { Log } from '../../lib/log.ts'
import type { People } from '../people/people.ts'
import type { InboundMetrics } from './inbound-metrics.ts'
import type { InboxWorker } from './inbox-worker.ts'

type Deps = {
  worker: Pick<InboxWorker, 'accept'>
  people: Pick<People, 'applyNames' | 'lookUp' | 'upsert'>
  metrics: Pick<InboundMetrics, 'received' | 'passedOver' | 'duplicate'>
  traces: Pick<Traces, 'note'>
  log: Log
}

export class InboundReception implements Reception {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  onReceived(instance: InstanceName, rows: readonly ReceivedRow[]): void {
    const { worker, metrics, traces } = this.#deps
    for (const { id, event, receivedAt } of rows) {
      metrics.received(instance, event)
      const step = {
        subject: subjectOfEvent(instance, event),
        name: 'receive',
        facts: factsOfEvent(instance, event),
      } as const
      traces.note(step, receivedAt)
      worker.accept({ id, instance, event, receivedAt, attempts: 0, kind: event.kind, lastError: null })
    }
  }

  onNames(instance: InstanceName, names: readonly PersonNames[]): Promise<void> {
    return this.#inBackground(instance, async () => {
      for (const each of names) await this.#deps.people.applyNames(instance, each)
    })
  }

  /** Only for people we know already: the network tells of many others. */
  onPairs(instance: InstanceName, pairs: readonly PersonPair[]): void {
    const { people } = this.#deps
    void this.#inBackground(instance, async () => {
      for (const pair of pairs) if (await people.lookUp(instance, pair)) await people.upsert(instance, pair)
    }).catch(ignoreRejection)
  }

  onPassedOver(instance: InstanceName, kind: string): void {
    this.#deps.metrics.passedOver(instance, kind)
  }

  onRepeated(instance: InstanceName): void {
    this.#deps.metrics.duplicate(instance, 'redelivered')
  }

  /** A failure is logged: the network reports names and pairs again. */
  async #inBackground(instance: InstanceName, work: () => Promise<void>): Promise<void> {
    try {
      await this.#lanes.run(instance, work)
    } catch (err) {
      this.#deps.log.warn({ err, instance }, 'names were not noted')
      throw err
    }
  }
}
