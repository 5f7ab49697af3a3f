// What this process uses: memory after a full collection, and the CPU of all its threads so far.

export type Memory = { heapKb: number; buffersKb: number; residentKb: number }

const kb = 1024
const collections = 4

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
