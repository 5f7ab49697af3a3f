// The delay of the event loop as metrics: how much later than planned a timer runs.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

// A finer measurement would keep an idle process awake.
const resolutionMs = 100

/** The histogram holds whole intervals: the delay is what exceeds the resolution. */
const delayOf = (intervalNs: number) => Math.max(0, intervalNs / 1e9 - resolutionMs / 1000)

type Histogram = ReturnType<typeof monitorEventLoopDelay>

const gauges: Record<string, { help: string; read: (histogram: Histogram) => number }> = {
  min: { help: 'The minimum recorded event loop delay.', read: ({ min }) => delayOf(min) },
  max: { help: 'The maximum recorded event loop delay.', read: ({ max }) => delayOf(max) },
  mean: { help: 'The mean of the recorded event loop delays.', read: ({ mean }) => delayOf(mean) },
  stddev: { help: 'The standard deviation of the recorded event loop delays.', read: ({ stddev }) => stddev / 1e9 },
  p50: { help: 'The 50th percentile of the recorded event loop delays.', read: (each) => delayOf(each.percentile(50)) },
  p90: { help: 'The 90th percentile of the recorded event loop delays.', read: (each) => delayOf(each.percentile(90)) },
  p99: { help: 'The 99th percentile of the recorded event loop delays.', read: (each) => delayOf(each.percentile(99)) },
}

/** Replaces the gauges of prom-client, which show the resolution as a delay. Each scrape starts a new measurement. */
export function addEventLoopDelay(registry: Registry): void {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
  histogram.enable()
  const names = Object.keys(gauges)
  for (const [name, { help, read }] of Object.entries(gauges)) {
    const full = `nodejs_eventloop_lag_${name}_seconds`
    registry.removeSingleMetric(full)
    new Gauge({
      name: full,
      help,
      registers: [registry],
      collect() {
        this.set(histogram.count === 0 ? 0 : read(histogram))
        if (name === names.at(-1)) histogram.reset()
      },
    })
  }
}
