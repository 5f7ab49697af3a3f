// Checks that a function takes time in proportion to the length of its text.

import assert from 'node:assert/strict'

type Work = (text: string) => unknown
type Measured = { short: number; long: number }

/** Twice the length may take this many times as long. Linear work takes 2 times as long, quadratic work 4 times. */
const most = 2.5
/** Work this fast takes less than 35 ms for the longest text of WhatsApp, even if it is quadratic. */
const negligibleMs = 0.5
/** Lengths, and how often each is measured. Work fails only if every round found too much: a burst of other work spoils one. */
const rounds = [
  { length: 4096, count: 1 },
  { length: 4096, count: 5 },
  { length: 8192, count: 8 },
  { length: 16_384, count: 12 },
] as const

/** `textOf` makes a text of about the given length. */
export function assertLinear(work: Work, textOf: (length: number) => string, label: string): void {
  let measured: Measured = { short: 0, long: 0 }
  for (const { length, count } of rounds) {
    measured = measure(work, textOf(length), textOf(2 * length), count)
    if (isLinear(measured)) return
  }
  assert.fail(`${label}: ${describe(measured)} for twice the length`)
}

function isLinear({ short, long }: Measured): boolean {
  return long < negligibleMs || long <= most * short
}

function describe({ short, long }: Measured): string {
  return `${short.toFixed(2)} ms became ${long.toFixed(2)} ms (${(long / short).toFixed(1)} times)`
}

/**
 * The smallest times count: other work of the machine and collections of garbage only make a time longer. The long text comes
 * first: the first call is slow because the function is not compiled yet, and a slow short text would hide a fault.
 */
function measure(work: Work, short: string, long: string, count: number): Measured {
  const measured = { short: Infinity, long: Infinity }
  for (let each = 0; each < count; each++) {
    measured.long = Math.min(measured.long, cpuMsOf(work, long))
    measured.short = Math.min(measured.short, cpuMsOf(work, short))
  }
  return measured
}

export function cpuMsOf(work: Work, text: string): number {
  const before = threadCpuMs()
  work(text)
  return threadCpuMs() - before
}

/** The time that the processor spent on this thread. Other processes do not change it. */
function threadCpuMs(): number {
  // Linux brings the time of the thread up to date only when it is asked for the time of the process.
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The time that the processor spends on this thread until the work is done. */
export async function cpuMsUntil(work: () => Promise<unknown>): Promise<number> {
  const before = threadCpuMs()
  await work()
  return threadCpuMs() - before
}
