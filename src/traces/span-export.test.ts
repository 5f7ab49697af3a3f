import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'
import { silentLog } from '../../test/harness/logs.ts'
import { mostSpans, SpanExport } from './span-export.ts'

type Done = Parameters<SpanExporter['export']>[1]
type Result = Parameters<Done>[0]

/** The enumeration of the codes is in a package that is not ours to import. */
const resultOf = (code: number, error?: Error) => ({ code, error }) as unknown as Result

const context = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 }
const span = { spanContext: () => context, resource: {} } as unknown as ReadableSpan

function stage() {
  const exports: { count: number; done: Done }[] = []
  let dropped = 0
  const exporter: SpanExporter = {
    export: (spans, done) => void exports.push({ count: spans.length, done }),
    shutdown: () => Promise.resolve(),
  }
  const spans = new SpanExport({ exporter, onDropped: (count) => (dropped += count), log: silentLog })
  return { spans, exports, dropped: () => dropped }
}

test('a span more than the most that may be open is dropped, and an answer of the collector makes room', async () => {
  const { spans, exports, dropped } = stage()
  for (let n = 0; n <= mostSpans; n++) spans.add(span)
  assert.equal(dropped(), 1)
  const [first] = exports
  assert.ok(first, 'a full batch leaves at once')
  first.done(resultOf(0))
  spans.add(span)
  assert.equal(dropped(), 1)
  await spans[Symbol.asyncDispose]()
})

test('the spans of a failed export are dropped', () => {
  const { spans, exports, dropped } = stage()
  for (let n = 0; n < 512; n++) spans.add(span)
  exports[0]?.done(resultOf(1, new Error('away')))
  assert.equal(dropped(), 512)
})

test('after its end nothing is taken', async () => {
  const { spans, exports, dropped } = stage()
  await spans[Symbol.asyncDispose]()
  spans.add(span)
  assert.deepEqual([dropped(), exports], [1, []])
})
