// A collector of OpenTelemetry traces: a real HTTP server that takes OTLP as JSON and keeps the spans.

import { text } from 'node:stream/consumers'
import { LoopbackServer } from './loopback-server.ts'
import { waitUntil } from './wait-until.ts'

export type CollectedSpan = {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  facts: Record<string, string | number>
  startMs: number
  endMs: number
}

type WireValue = { stringValue?: string; intValue?: number | string; doubleValue?: number }
type WireSpan = Omit<CollectedSpan, 'facts' | 'parentSpanId' | 'startMs' | 'endMs'> & {
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: WireValue }[]
}
type WireRequest = { resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[] }

export class TraceCollector {
  readonly spans: CollectedSpan[] = []
  /** Every request as it came, with its headers. */
  readonly requests: string[] = []
  readonly #server: LoopbackServer

  private constructor(server: LoopbackServer) {
    this.#server = server
  }

  static async start(): Promise<TraceCollector> {
    const server = await LoopbackServer.start((request, response) => {
      void text(request).then((body) => {
        collector.requests.push(`${request.url ?? ''}\n${JSON.stringify(request.headers)}\n${body}`)
        collector.#collect(JSON.parse(body) as WireRequest)
        response.setHeader('content-type', 'application/json').end('{}')
      })
    })
    const collector = new TraceCollector(server)
    return collector
  }

  get environment(): Record<string, string> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.#server.url('127.0.0.1', '') }
  }

  named(name: string): CollectedSpan[] {
    return this.spans.filter((span) => span.name === name)
  }

  /** The spans of the trace of this span. */
  traceOf({ traceId }: CollectedSpan): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId)
  }

  async has(name: string, matches: (span: CollectedSpan) => boolean = () => true): Promise<CollectedSpan> {
    const find = () => this.spans.find((span) => span.name === name && matches(span))
    const instead = () => this.spans.map((span) => [span.name, span.facts])
    await waitUntil(`the collector has a span "${name}"`, () => find() !== undefined, { instead })
    return find() as CollectedSpan
  }

  #collect({ resourceSpans }: WireRequest): void {
    const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans))
    this.spans.push(...spans.map(spanOf))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]()
  }
}

function spanOf(wire: WireSpan): CollectedSpan {
  const { traceId, spanId, parentSpanId = '', name, attributes } = wire
  const facts = attributes.map(({ key, value: { stringValue, intValue, doubleValue } }) => [
    key,
    stringValue ?? Number(intValue ?? doubleValue),
  ])
  const [startMs, endMs] = [wire.startTimeUnixNano, wire.endTimeUnixNano].map((nano) => Number(nano) / 1e6)
  return {
    ...{ traceId, spanId, parentSpanId, name, startMs: startMs ?? 0, endMs: endMs ?? 0 },
    facts: Object.fromEntries(facts) as CollectedSpan['facts'],
  }
}
