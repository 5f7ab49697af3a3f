// The capacity of a node that is slow: it shrinks, so that instances move away before the others take the node for dead.

/** One look of a node at itself, about once a second. */
export type LoadSample = {
  /** Milliseconds on a scale that never goes back. */
  at: number
  loopDelayP99Ms: number
  /** How long the last beat took. */
  beatMs: number
}

/** What is remembered of the samples until now. */
export type Slowness = {
  /** How many times the capacity was lowered. */
  steps: number
  /** The begin of the slow time since the last step; undefined while the node is quick. */
  slowSince: number | undefined
  /** When it was last slow. */
  slowAt: number
}

const slowLoopMs = 500
const slowBeatMs = 1_000
const patienceMs = 10_000
const quietMs = 10 * 60_000
const leastCapacity = 25

export const quick: Slowness = { steps: 0, slowSince: undefined, slowAt: -Infinity }

/** Ten seconds of slowness are a step down. Ten quiet minutes take all steps back. */
export function noteSample(before: Slowness, { at, loopDelayP99Ms, beatMs }: LoadSample): Slowness {
  if (loopDelayP99Ms <= slowLoopMs && beatMs <= slowBeatMs) {
    return at - before.slowAt >= quietMs ? quick : { ...before, slowSince: undefined }
  }
  const slowSince = before.slowSince ?? at
  if (at - slowSince < patienceMs) return { ...before, slowSince, slowAt: at }
  return { steps: before.steps + 1, slowSince: at, slowAt: at }
}

/** Each step takes a quarter away. It does not go below 25, or below a base that is lower. */
export function capacityAfter(base: number, { steps }: Slowness): number {
  return Math.max(Math.min(base, leastCapacity), Math.round(base * 0.75 ** steps))
}
