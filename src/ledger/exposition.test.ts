import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { writeExposition } from './exposition.ts'
import { Metrics } from './metrics.ts'

test('the text is that of the library', async () => {
  const registry = new Registry()
  const registers = [registry]
  new Gauge({ name: 'plain', help: 'Two\nlines and a \\', registers }).set(0.25)
  new Gauge({ name: 'endless', help: 'x', registers, labelNames: ['sign'] }).set({ sign: '-' }, -Infinity)
  new Gauge({ name: 'empty', help: 'x', registers, labelNames: ['sign'] })
  const odd = new Counter({ name: 'odd_total', help: 'x', registers, labelNames: ['one', 'other'] })
  odd.inc({ one: 'a "quoted" \\ text\nof two lines', other: '' }, 1e21)
  const histogram = new Histogram({ name: 'taken', help: 'x', registers, labelNames: ['kind'], buckets: [0.1, 1] })
  histogram.observe({ kind: 'a' }, 0.5)
  histogram.observe({ kind: 'a' }, 5)
  const text = await writeExposition(await registry.getMetricsAsJSON())
  const series = (written: string) => written.split('\n').map(sortLabels)
  assert.deepEqual(series(text), series(await registry.metrics()))
})

/** The order of the labels means nothing. */
function sortLabels(line: string): string {
  return line.replace(/\{(.*)\}/, (_, labels: string) => labels.split(',').sort().join())
}

test('a value that is no number is written as Prometheus writes it', async () => {
  const registry = new Registry()
  new Gauge({ name: 'unknown', help: 'x', registers: [registry] }).set(NaN)
  assert.match(await writeExposition(await registry.getMetricsAsJSON()), /^unknown NaN$/m)
})

/** Metrics of so many instances, with the number of times that their gauges were read. */
function createMetrics(instances: number) {
  const metrics = new Metrics({ version: '1.0.0' })
  const reads = { count: 0 }
  for (let n = 0; n < instances; n++) metrics.received.inc({ instance: `shop-${n}`, kind: 'text' })
  metrics.gauges.watchSetup(() => ++reads.count)
  return { metrics, reads }
}

test('the text of many instances leaves the event loop to others in between, and is complete', async () => {
  const { metrics } = createMetrics(20_000)
  let turns = 0
  const countTurn = () => {
    turns++
    counting = setImmediate(countTurn)
  }
  let counting = setImmediate(countTurn)
  const text = await metrics.exposition()
  clearImmediate(counting)
  assert.ok(turns >= 5, `${turns} turns`)
  const lines = text.split('\n').filter((line) => line.startsWith('service_received_total{'))
  assert.equal(new Set(lines).size, 20_000)
  assert.ok(text.endsWith('\n'), 'the format wants an end of the last line')
})

test('callers at the same time share one text, and a later caller gets a new one', async () => {
  const { metrics, reads } = createMetrics(10)
  const texts = await Promise.all([metrics.exposition(), metrics.exposition(), metrics.exposition()])
  assert.equal(reads.count, 1)
  for (const text of texts) assert.match(text, /^service_setup_findings 1$/m)
  assert.match(await metrics.exposition(), /^service_setup_findings 2$/m)
})

test('after a text that could not be written the next one is written anew', async () => {
  const { metrics } = createMetrics(10)
  let isBroken = true
  metrics.gauges.add('fragile', 'x', () => {
    if (isBroken) throw new Error('broken')
    return 1
  })
  await assert.rejects(metrics.exposition(), /broken/)
  isBroken = false
  assert.match(await metrics.exposition(), /^fragile 1$/m)
})
