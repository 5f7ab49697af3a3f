// Measures the delay of the event loop: how much later than planned a timer runs.

import { monitorEventLoopDelay } from 'node:perf_hooks'

// A finer measurement would keep an idle process awake.
const resolutionMs = 100

type Histogram = ReturnType<typeof monitorEventLoopDelay>
type DelayGauge = { name: string; help: string; read: () => number }

/** The histogram holds whole intervals: the delay is what exceeds the resolution. */
const delayOf = (intervalNs: number) => Math.max(0, intervalNs / 1e9 - resolutionMs / 1000)

const readings: Record<string, { what: string; of: (histogram: Histogram) => number }> = {
  min: { what: 'minimum', of: ({ min }) => delayOf(min) },
  max: { what: 'maximum', of: ({ max }) => delayOf(max) },
  mean: { what: 'mean', of: ({ mean }) => delayOf(mean) },
  stddev: { what: 'standard deviation', of: ({ stddev }) => stddev / 1e9 },
  p50: { what: '50th percentile', of: (histogram) => delayOf(histogram.percentile(50)) },
  p90: { what: '90th percentile', of: (histogram) => delayOf(histogram.percentile(90)) },
  p99: { what: '99th percentile', of: (histogram) => delayOf(histogram.percentile(99)) },
}

/** Gauges in seconds, to be read in this order. Reading the last one starts a new measurement. */
export function eventLoopDelayGauges(): DelayGauge[] {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
  histogram.enable()
  const last = Object.keys(readings).at(-1)
  return Object.entries(readings).map(([name, { what, of }]) => ({
    name: `nodejs_eventloop_lag_${name}_seconds`,
    help: `The ${what} of the event loop delays since the last scrape.`,
    read: () => {
      const seconds = histogram.count === 0 ? 0 : of(histogram)
      if (name === last) histogram.reset()
      return seconds
    },
  }))
}
