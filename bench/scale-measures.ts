// The single measurements of the scale benchmark: thousands of accounts in one process of the service.

import { setTimeout as sleep } from 'node:timers/promises'
import { calmMs, measureGet } from './instances-measures.ts'
import type { Stage } from './instances-stage.ts'

export type Figures = Record<string, number>

/** Connects everybody; growth per account since before the first one. */
export async function measureConnecting(stage: Stage): Promise<Figures> {
  const before = await stage.ours.ask('memory')
  await stage.ours.ask('watchLoop')
  const { wallMs, cpuMs } = await stage.connect('ours')
  const loopMs = await stage.ours.ask('loopDelayP99Ms')
  await sleep(calmMs)
  const after = await stage.ours.ask('memory')
  return {
    connect_all_wall_s: wallMs / 1000,
    connect_cpu_ms_per_account: cpuMs / stage.count,
    connect_loop_delay_p99_ms: loopMs,
    heap_kb_per_account: (after.heapKb - before.heapKb) / stage.count,
    buffers_kb_per_account: (after.buffersKb - before.buffersKb) / stage.count,
    resident_kb_per_account: (after.residentKb - before.residentKb) / stage.count,
  }
}

export async function measureIdling({ ours, count }: Stage, idleMs: number): Promise<Figures> {
  await ours.ask('watchLoop')
  const before = await ours.ask('cpuMs')
  await sleep(idleMs)
  const cpuMs = (await ours.ask('cpuMs')) - before
  return {
    idle_cpu_ms_per_account_and_minute: cpuMs / count / (idleMs / 60_000),
    idle_loop_delay_p99_ms: await ours.ask('loopDelayP99Ms'),
  }
}

export async function measureDrop(stage: Stage): Promise<Figures> {
  await stage.ours.ask('watchLoop')
  const { wallMs, cpuMs, simulatorCpuMs } = await stage.reconnect('ours')
  return {
    reconnect_all_wall_s: wallMs / 1000,
    reconnect_cpu_ms_per_account: cpuMs / stage.count,
    reconnect_loop_delay_p99_ms: await stage.ours.ask('loopDelayP99Ms'),
    // Near 1, the simulator sets the pace and the wall time says nothing about the service.
    reconnect_simulator_cores: simulatorCpuMs / wallMs,
  }
}

export async function measureReading(stage: Stage): Promise<Figures> {
  return {
    list_ms: await measureGet(stage, '/api/instances'),
    overview_ms: await measureGet(stage, '/api/overview'),
    metrics_ms: await measureGet(stage, '/metrics'),
  }
}

/** As many as the bare library connects within the time, and what each of those costs. */
export async function measureBare(stage: Stage, withinMs: number): Promise<Figures> {
  const before = await stage.bare.ask('memory')
  const { wallMs, cpuMs, online } = await stage.tryConnect('bare', withinMs)
  if (online === 0) return { bare_connected: 0 }
  await sleep(calmMs)
  const after = await stage.bare.ask('memory')
  return {
    bare_connected: online,
    bare_connect_wall_s: wallMs / 1000,
    bare_connect_cpu_ms_per_account: cpuMs / online,
    bare_heap_kb_per_account: (after.heapKb - before.heapKb) / online,
    bare_resident_kb_per_account: (after.residentKb - before.residentKb) / online,
  }
}
