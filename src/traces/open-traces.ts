// Connects traces with a collector.

import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import type { Traces } from '../core/trace/traces.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { OtlpTraces } from './otlp-traces.ts'
import { SpanExport } from './span-export.ts'

type Options = {
  /** The base URL of the collector. */
  endpoint: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  version: string
  share: number
  onDropped: (count: number) => void
  clock: Clock
  log: Log
}

/** Given here, because the exporter would take any time from a variable that is no setting of the service. */
const exportMs = 10_000

/** `spans` sends what is left when it is disposed. */
export function openTraces(options: Options): { traces: Traces; spans: AsyncDisposable } {
  const { endpoint, headers, serviceName, version, share, onDropped, clock, log } = options
  const url = `${endpoint}/v1/traces`
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: exportMs })
  const spans = new SpanExport({ exporter, onDropped, log })
  return { traces: new OtlpTraces({ spans, serviceName, version, share, clock }), spans }
}
