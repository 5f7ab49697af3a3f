import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { DownstreamError } from '../core/downstream.ts'
import type { Step } from '../core/trace/traces.ts'
import { OtlpTraces } from './otlp-traces.ts'
import { isSampled, traceIdsOf } from './trace-ids.ts'

const share = 0.5

function stage() {
  const spans: ReadableSpan[] = []
  const into = { add: (span: ReadableSpan) => void spans.push(span) }
  const traces = new OtlpTraces({ spans: into, serviceName: 's', version: '1', share, clock: { now: () => 1000 } })
  return { traces, spans, names: () => spans.map(({ name }) => name) }
}

/** Messages of agents of which the share decides so. */
function stepsThat(areTraced: boolean): Step[] {
  const subjects = Array.from({ length: 40 }, (_, id) => ({ of: 'helpdesk', destination: 'd', id }) as const)
  const found = subjects.filter((subject) => isSampled(traceIdsOf(subject), share) === areTraced)
  return found.map((subject) => ({ subject, name: 'send', facts: {} }))
}

const [traced, other] = stepsThat(true) as [Step, Step]
const [untraced] = stepsThat(false) as [Step]

test('a request of a message that is not traced is not a span of the message whose step began it', async () => {
  const { traces, names } = stage()
  const ask = () => traces.within('helpdesk request', {}, () => Promise.resolve())
  await traces.during(traced, () => traces.during(untraced, ask))
  assert.deepEqual(names(), ['send'])
  await traces.during(traced, ask)
  assert.deepEqual(names(), ['send', 'helpdesk request', 'send'])
})

test('work that outlives its step is no part of it', async () => {
  const { traces, names } = stage()
  const isOver = Promise.withResolvers<undefined>()
  let later: Promise<void> | undefined
  await traces.during(traced, () => {
    later = isOver.promise.then(() => traces.within('helpdesk request', {}, () => Promise.resolve()))
    return Promise.resolve()
  })
  isOver.resolve(undefined)
  await later
  assert.deepEqual(names(), ['send'])
})

test('a message that is accepted during a step of another message is in its own trace, without a parent', async () => {
  const { traces, spans } = stage()
  await traces.during({ ...traced, name: 'callback' }, () => {
    traces.note({ ...other, name: 'accept' }, 900)
    traces.note({ ...traced, name: 'accept' }, 900)
    return Promise.resolve()
  })
  const [foreign, own, callback] = spans
  assert.equal(foreign?.parentSpanContext, undefined)
  assert.equal(own?.parentSpanContext?.spanId, callback?.spanContext().spanId)
})

test('of an instance that is named after its number, only the last two digits are shown', () => {
  const { traces, spans } = stage()
  traces.note({ ...traced, facts: { instance: 'shop-5511955550077', bytes: 12_345_678 } }, 900)
  assert.deepEqual(spans[0]?.attributes, { 'causeway.instance': 'shop-…77', 'causeway.bytes': 12_345_678 })
})

test('a failed step names the kind of the failure, and not what it says', async () => {
  const { traces, spans } = stage()
  const failures = [new DownstreamError('gone', 'no contact 5511'), new TypeError('file of Bob'), 'Bob']
  for (const failure of failures) {
    const failing = traces.during(traced, () => Promise.reject(failure as Error))
    await assert.rejects(failing, (error) => error === failure)
  }
  assert.deepEqual(
    spans.map(({ attributes, status }) => [attributes['causeway.outcome'], status]),
    ['gone', 'TypeError', 'failed'].map((outcome) => [outcome, { code: SpanStatusCode.ERROR }]),
  )
})
