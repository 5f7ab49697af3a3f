// Hands finished spans to the collector in batches. A collector that does not answer costs spans, never the time of a message.

import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'
import { sleep, systemClock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Log } from '../lib/log.ts'

type Deps = {
  exporter: SpanExporter
  /** Spans that will never reach the collector. */
  onDropped: (count: number) => void
  log: Log
}

/** Spans that wait for the collector or are on their way to it. */
export const mostSpans = 2048
const batchSize = 512
const collectMs = 1000
const stopMs = 2000

export class SpanExport {
  readonly #deps: Deps
  readonly #processor: BatchSpanProcessor
  #open = 0
  #isFailing = false
  #isOver = false

  constructor(deps: Deps) {
    this.#deps = deps
    const { exporter } = deps
    const counted: SpanExporter = {
      export: (spans, done) => {
        exporter.export(spans, (result) => {
          this.#ended(spans.length, result.error)
          done(result)
        })
      },
      shutdown: () => exporter.shutdown(),
    }
    this.#processor = new BatchSpanProcessor(counted, {
      ...{ maxQueueSize: mostSpans, maxExportBatchSize: batchSize, scheduledDelayMillis: collectMs },
    })
  }

  add(span: ReadableSpan): void {
    if (this.#isOver || this.#open >= mostSpans) {
      this.#deps.onDropped(1)
      return
    }
    this.#open++
    this.#processor.onEnd(span)
  }

  /** Sends what is left, for at most two seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { log } = this.#deps
    this.#isOver = true
    const enough = new AbortController()
    const flushed = this.#processor.shutdown().catch(ignoreRejection)
    // Real time even under the clock of a test: the collector takes real time.
    await Promise.race([flushed, sleep(systemClock, stopMs, enough.signal)])
    enough.abort()
    if (this.#open > 0) log.warn({ spans: this.#open }, 'the last spans did not reach the collector')
  }

  #ended(count: number, failure: Error | undefined): void {
    const { onDropped, log } = this.#deps
    this.#open -= count
    if (failure === undefined) {
      if (this.#isFailing) log.info('spans reach the collector again')
      this.#isFailing = false
      return
    }
    onDropped(count)
    if (!this.#isFailing) log.warn({ err: failure }, 'spans do not reach the collector')
    this.#isFailing = true
  }
}
