// The single measurements of the instances benchmark, each for both ways on one stage.

import { setTimeout as sleep } from 'node:timers/promises'
import { interleave } from './benchmark.ts'
import { preKeysOfPairing } from './instances-seed.ts'
import { Stage } from './instances-stage.ts'
import type { Spent, Way } from './instances-stage.ts'

const ways: readonly Way[] = ['ours', 'bare']

/** Figures of both ways by name. */
export type Compared = Record<string, Record<Way, number>>

/** Until everything a login has set off is over: the longest is a drain deadline of 20 s. */
export const calmMs = Number(process.env['BENCH_CALM_MS'] ?? 22_000)
const lists = 15

/** Connects everybody; growth per instance since before the first one. */
export async function measureMemory(stage: Stage, label: string): Promise<Compared> {
  const compared: Compared = {}
  const before = { ours: await stage.process('ours').ask('memory'), bare: await stage.process('bare').ask('memory') }
  const spent: Record<Way, Spent> = { ours: await stage.connect('ours'), bare: await stage.connect('bare') }
  await sleep(calmMs)
  const after = { ours: await stage.process('ours').ask('memory'), bare: await stage.process('bare').ask('memory') }
  const grown = (way: Way, kind: 'heapKb' | 'buffersKb' | 'residentKb') =>
    (after[way][kind] - before[way][kind]) / stage.count
  compared[`heap_kb_per_instance_${label}`] = both((way) => grown(way, 'heapKb'))
  compared[`buffers_kb_per_instance_${label}`] = both((way) => grown(way, 'buffersKb'))
  compared[`resident_kb_per_instance_${label}`] = both((way) => grown(way, 'residentKb'))
  compared[`connect_all_wall_ms_${label}`] = both((way) => spent[way].wallMs)
  return compared
}

/** Both at once: the same moment of the machine for either. */
export async function measureIdle(stage: Stage, idleMs: number): Promise<Compared> {
  const read = () => Promise.all(ways.map((way) => stage.process(way).ask('cpuMs')))
  const before = await read()
  await sleep(idleMs)
  const after = await read()
  const perMinute = (index: number) =>
    ((after[index] ?? NaN) - (before[index] ?? NaN)) / stage.count / (idleMs / 60_000)
  return { idle_cpu_ms_per_instance_and_minute: { ours: perMinute(0), bare: perMinute(1) } }
}

export async function measureReconnects(stage: Stage, rounds: number, label: string): Promise<Compared> {
  const measured = await interleave(rounds, {
    ours: () => stage.reconnect('ours'),
    bare: () => stage.reconnect('bare'),
  })
  return {
    [`reconnect_cpu_ms_per_instance_${label}`]: both((way) => (measured[way]['cpuMs'] ?? NaN) / stage.count),
    [`reconnect_all_wall_ms_${label}`]: both((way) => measured[way]['wallMs'] ?? NaN),
  }
}

/** Median time of a GET with everybody connected, the answer read. */
export async function measureGet(stage: Stage, path: string): Promise<number> {
  const { ours } = await interleave(lists, {
    ours: async () => {
      const started = performance.now()
      const answer = await fetch(`${stage.url}${path}`)
      if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`)
      await answer.arrayBuffer()
      return { ms: performance.now() - started }
    },
  })
  return ours['ms'] ?? NaN
}

/** From nothing to linked and settled, one account at a time; the first of each way only warms up. */
export async function measurePairings(rounds: number): Promise<Compared> {
  await using stage = await Stage.open(0, preKeysOfPairing)
  await stage.connect('ours')
  let number = 0
  const pair = async (way: Way) => {
    const before = await stage.process(way).ask('cpuMs')
    const started = performance.now()
    await pairOne(stage, way, `551170${String((number += 1)).padStart(7, '0')}`)
    const wallMs = performance.now() - started
    await sleep(2_000)
    return { cpuMs: (await stage.process(way).ask('cpuMs')) - before, wallMs }
  }
  const pairs = { ours: () => pair('ours'), bare: () => pair('bare') }
  await interleave(1, pairs)
  const measured = await interleave(rounds, pairs)
  return {
    pair_cpu_ms: both((way) => measured[way]['cpuMs'] ?? NaN),
    pair_wall_ms: both((way) => measured[way]['wallMs'] ?? NaN),
  }
}

async function pairOne(stage: Stage, way: Way, number: string): Promise<void> {
  if (way === 'bare') {
    await stage.sim.ask('scan', { number, qr: await stage.bare.ask('pair') })
    await stage.bare.ask('paired')
    return
  }
  const instances = `${stage.url}/api/instances`
  const name = `pairing-${number}`
  const headers = { 'content-type': 'application/json' }
  await fetch(instances, { method: 'POST', headers, body: JSON.stringify({ name }) })
  let answer = await fetch(`${instances}/${name}/qr?format=text`)
  for (let tries = 0; answer.status !== 200 && tries < 200; tries++) {
    await answer.body?.cancel()
    await sleep(50)
    answer = await fetch(`${instances}/${name}/qr?format=text`)
  }
  await stage.sim.ask('scan', { number, qr: await answer.text() })
  const ready = await fetch(`${instances}/${name}/wait-ready?timeout=30`)
  if (ready.status !== 200) throw new Error(`${name} is not ready: ${await ready.text()}`)
}

function both(figure: (way: Way) => number): Record<Way, number> {
  return { ours: figure('ours'), bare: figure('bare') }
}
