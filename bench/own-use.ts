// What this process uses: memory after a full collection, the CPU of all its threads so far, and how late its event loop is.

import { monitorEventLoopDelay } from 'node:perf_hooks'

export type Memory = { heapKb: number; buffersKb: number; residentKb: number }

const kb = 1024
const collections = 4
const sampleMs = 10
const loopDelay = monitorEventLoopDelay({ resolution: 1 })
let peakKb = 0
let sampling: NodeJS.Timeout | undefined

export async function ownMemory(): Promise<Memory> {
  if (!globalThis.gc) throw new Error('the process needs --expose-gc')
  for (let round = 0; round < collections; round++) {
    await globalThis.gc({ type: 'major', execution: 'async' })
    await new Promise(setImmediate)
  }
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage()
  return { heapKb: heapUsed / kb, buffersKb: arrayBuffers / kb, residentKb: rss / kb }
}

export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** From now on, often enough to see what is held only for a moment. */
export function watchResident(): void {
  clearInterval(sampling)
  peakKb = 0
  sampling = setInterval(sample, sampleMs)
}

export function peakResidentKb(): number {
  sample()
  clearInterval(sampling)
  return peakKb
}

function sample(): void {
  peakKb = Math.max(peakKb, process.memoryUsage.rss() / kb)
}

/** From now on. */
export function watchLoop(): void {
  loopDelay.reset()
  loopDelay.enable()
}

export function loopDelayP99Ms(): number {
  loopDelay.disable()
  return loopDelay.percentile(99) / 1e6
}
