// How much a resync of profile pictures delays received messages, and how much the service grows meanwhile.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { medians, percentile, round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import { serviceEnvironment, until } from './flow.ts'
import type { OursDesk } from './instances-ours.ts'
import { fillDatabase, parseCredentials } from './instances-seed.ts'
import type { SimDesk } from './resync-sim.ts'

type Stage = { sim: Child<SimDesk>; ours: Child<OursDesk>; url: string }
type Resynced = { scanned: number; queued: number; pages: number }

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
/** More than a resync looks at. */
const contacts = Number(process.env['BENCH_CONTACTS'] ?? 3020)
const most = 3000
const mostPages = 200
const longestMs = 900_000
const messages = Number(process.env['BENCH_MESSAGES'] ?? 200)
const everyMs = 50
const number = '5511900000000'
const megabyteKb = 1024

export async function run(): Promise<BenchmarkResult> {
  await using stack = new AsyncDisposableStack()
  const stage = await open(stack)
  await stage.sim.ask('fill', contacts)
  await write(stage)
  // A resync takes minutes, so the blocks without it are before and after it.
  const before = await blocks(stage)
  const { during, ...grown } = await measureResync(stage)
  const without = [...before, ...(await blocks(stage))]
  const problems = await stage.sim.ask('problems')
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const [alone, beside] = [medians(without), medians(during)]
  const figures = { ...grown, ...named('without', alone), ...named('during', beside) }
  return {
    figures: Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, round(value)])),
    ratios: { p99: round((beside['p99_ms'] ?? NaN) / (alone['p99_ms'] ?? NaN)), growth_mb: round(grown.growth_mb) },
    targets: { p99: { atMost: 1.5 }, growth_mb: { atMost: 32 } },
  }
}

async function open(stack: AsyncDisposableStack): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const sim = stack.use(new Child<SimDesk>('./resync-sim.ts'))
  const facts = await sim.ask('facts')
  const [database, trusted] = [join(directory, 'service.db'), join(directory, 'ca.pem')]
  await writeFile(trusted, facts.certificate)
  await fillDatabase(database, [parseCredentials(await sim.ask('link', number), 30)])
  const environment = { ...serviceEnvironment(facts, `file:${database}`), SERVICE_NETWORK_CA: trusted }
  const ours = stack.use(new Child<OursDesk>('./instances-ours.ts', environment))
  const url = await ours.ask('start')
  await until('the account is online', () => sim.ask('isOnline', number))
  return { sim, ours, url }
}

async function write({ sim }: Stage): Promise<Record<string, number>> {
  const times = await sim.ask('write', { number, count: messages, everyMs })
  return { p50_ms: percentile(times, 0.5), p99_ms: percentile(times, 0.99) }
}

async function blocks(stage: Stage): Promise<Record<string, number>[]> {
  const measured: Record<string, number>[] = []
  for (let block = 0; block < rounds; block++) measured.push(await write(stage))
  return measured
}

/** The growth is that of the resident memory, at its peak; `held_mb` is what is left of it after the resync. */
async function measureResync(stage: Stage) {
  const { sim, ours } = stage
  const before = await ours.ask('memory')
  const asked = await sim.ask('asked')
  await ours.ask('watchResident')
  const began = performance.now()
  const [queued, during] = await Promise.all([startResync(stage), blocks(stage)])
  const deadline = performance.now() + longestMs
  while ((await sim.ask('asked')) - asked < queued) {
    if (performance.now() > deadline) throw new Error('the resync does not end')
    await sleep(1000)
  }
  const resyncSeconds = (performance.now() - began) / 1000
  const peakKb = await ours.ask('peakResidentKb')
  const after = await ours.ask('memory')
  return {
    during,
    resync_s: resyncSeconds,
    baseline_mb: before.residentKb / megabyteKb,
    growth_mb: (peakKb - before.residentKb) / megabyteKb,
    held_mb: (after.heapKb + after.buffersKb - before.heapKb - before.buffersKb) / megabyteKb,
  }
}

/** Every contact has another picture. Resolves to the number of queued contacts when all pages are read. */
async function startResync({ sim, url }: Stage): Promise<number> {
  await sim.ask('renewPictures')
  const answer = await fetch(`${url}/api/instances/instance-0000/avatars/resync`, { method: 'POST' })
  const { queued, pages } = (await answer.json()) as Resynced
  // The people who write have contacts too.
  const isWhole = queued >= Math.min(most, contacts) && queued <= most && pages <= mostPages
  if (!isWhole) throw new Error(`the resync queued ${queued} contacts of ${pages} pages`)
  return queued
}

function named(way: string, figures: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${way}_${name}`, value]))
}
