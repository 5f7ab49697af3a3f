// Every metric of the service, in a registry of its own. Labels never carry phone numbers or message ids.

import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'
import type { InstanceName } from '../core/ids.ts'
import type { PerInstance } from '../core/per-instance.ts'
import { eventLoopDelayGauges } from './event-loop-delay.ts'
import { writeExposition } from './exposition.ts'
import { Gauges } from './gauges.ts'
import { NodeMetrics } from './node-metrics.ts'

export class Metrics implements PerInstance {
  readonly #registry = new Registry()
  #writing: Promise<string> | undefined
  /** What is read at every scrape. */
  readonly gauges = new Gauges(this.#registry)
  readonly nodes = new NodeMetrics(this.#registry)
  readonly messages = this.#counter('service_messages_total', 'Messages that crossed the bridge', [
    'direction',
    'instance',
    'owner_tag',
  ])
  readonly spamguardBlocks = this.#counter('service_spamguard_blocks_total', 'Outgoing duplicates refused', [
    'instance',
    'owner_tag',
  ])
  readonly lifecycleEvents = this.#counter('service_lifecycle_events_total', 'Lifecycle events emitted', [
    'instance',
    'event',
    'owner_tag',
  ])
  readonly dispatchErrors = this.#counter(
    'service_message_dispatch_errors_total',
    'Attempts to pass a message on that failed',
    ['direction', 'instance', 'kind', 'owner_tag'],
  )
  readonly lifecycleRetries = this.#counter(
    'service_lifecycle_webhook_retries_total',
    'Lifecycle deliveries that needed a retry, by how they ended',
    ['event', 'outcome'],
  )
  readonly lifecycleDropped = this.#counter(
    'service_lifecycle_webhook_dropped_total',
    'Lifecycle deliveries that a newer one displaced before they arrived',
    ['event'],
  )
  readonly realtimeEvents = this.#counter('service_realtime_events_total', 'Real-time events by what became of them', [
    'feature',
    'result',
    'instance',
  ])
  readonly passedOver = this.#counter('service_passed_over_total', 'What arrived and belongs to no bridged chat', [
    'instance',
    'kind',
  ])
  readonly received = this.#counter('service_received_total', 'What arrived from the network, by kind', [
    'instance',
    'kind',
  ])
  readonly duplicates = this.#counter(
    'service_duplicates_total',
    'What arrived from the network again and was not passed on again, by kind',
    ['instance', 'kind'],
  )
  readonly callRejections = this.#counter(
    'service_call_rejections_total',
    'Attempts to reject a call, by their outcome: rejected, unconfirmed by WhatsApp, or over before the rejection',
    ['instance', 'outcome'],
  )
  readonly callbacksReordered = this.#counter(
    'service_callbacks_reordered_total',
    'Callbacks that waited until the message before theirs had come',
    ['instance'],
  )
  readonly callbacksRefused = this.#counter(
    'service_callbacks_refused_total',
    'Callbacks of the helpdesk that were refused before their message was looked at, by the reason',
    ['reason'],
  )
  readonly droppedSpans = this.#counter(
    'service_trace_spans_dropped_total',
    'Spans that the collector of traces did not get',
    [],
  )
  readonly downstreamSeconds = new Histogram({
    name: 'service_downstream_post_seconds',
    help: 'How long the helpdesk took for a message, whatever it answered',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30],
    registers: [this.#registry],
  })

  constructor({ version }: { version: string }) {
    this.gauges.addSeries('service_version_info', 'Always 1; the label carries the version', ['version'], () => [
      { labels: { version }, value: 1 },
    ])
    // prom-client shows the precision of its measurement as a delay, so its gauges are replaced. An interval of an hour
    // switches its own measurement off.
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 3_600_000 })
    for (const { name, help, read } of eventLoopDelayGauges()) {
      this.#registry.removeSingleMetric(name)
      this.gauges.add(name, help, read)
    }
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Callers at the same time share one text: many of them cost no more than one. */
  exposition(): Promise<string> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  /** An instance that is deleted or moves leaves no series behind. */
  async leave(instance: InstanceName): Promise<void> {
    const byInstance = [
      this.messages,
      this.spamguardBlocks,
      this.lifecycleEvents,
      this.dispatchErrors,
      this.realtimeEvents,
      this.passedOver,
      this.received,
      this.duplicates,
      this.callRejections,
      this.callbacksReordered,
    ]
    for (const counter of byInstance) await removeSeries(counter, instance)
  }

  async #write(): Promise<string> {
    return writeExposition(await this.#registry.getMetricsAsJSON())
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }
}

async function removeSeries(counter: Counter, instance: InstanceName): Promise<void> {
  for (const { labels } of (await counter.get()).values) {
    if (labels['instance'] === instance) counter.remove(labels as Record<string, string>)
  }
}
