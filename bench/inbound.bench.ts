// What a received message costs, from the wire to the helpdesk, against the bare library that only hands it over.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { interleave, round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import type { BareDesk } from './inbound-bare.ts'
import type { SimDesk } from './inbound-sim.ts'
import type { OursDesk } from './instances-ours.ts'
import { fillDatabase, parseCredentials, writeFiles } from './instances-seed.ts'

type Way = 'ours' | 'bare'
type Target = 'person' | 'group'
type Stage = { sim: Child<SimDesk>; ours: Child<OursDesk>; bare: Child<BareDesk>; numbers: Record<Way, string[]> }

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const sizes = (process.env['BENCH_INSTANCES'] ?? '1,50').split(',').map(Number)
const messages = { person: 200, group: 100 }
const pollMs = 20
const waitMs = 120_000
const ways: readonly Way[] = ['ours', 'bare']

export async function run(): Promise<BenchmarkResult> {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  for (const instances of sizes) {
    await using stack = new AsyncDisposableStack()
    const stage = await open(stack, instances)
    for (const target of ['person', 'group'] as const) {
      const measured = await compare(stage, target)
      const name = `${instances}_instances_${target}`
      for (const way of ways) {
        for (const [figure, value] of Object.entries(measured[way])) figures[`${way}_${name}_${figure}`] = round(value)
      }
      ratios[`${name}_cpu`] = round((measured.ours['cpu_ms'] ?? NaN) / (measured.bare['cpu_ms'] ?? NaN))
    }
    const problems = await stage.sim.ask('problems')
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }
  const targets = {
    '1_instances_person_cpu': { atMost: 2.5 },
    '50_instances_person_cpu': { atMost: 2.5 },
    '1_instances_group_cpu': { atMost: 0.25 },
    '50_instances_group_cpu': { atMost: 0.25 },
  }
  return { figures, ratios, targets }
}

async function open(stack: AsyncDisposableStack, instances: number): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const sim = stack.use(new Child<SimDesk>('./inbound-sim.ts'))
  const { url, rootKey, helpdesk } = await sim.ask('facts')
  const numbers = { ours: numbersOf('551190', instances), bare: numbersOf('551180', instances) }
  const linked = async (way: Way) => (await sim.ask('link', numbers[way])).map((text) => parseCredentials(text, 30))
  const database = join(directory, 'service.db')
  await fillDatabase(database, await linked('ours'))
  const files = await writeFiles(directory, await linked('bare'))
  const bare = stack.use(new Child<BareDesk>('./inbound-bare.ts', { NETWORK_URL: url, NETWORK_ROOT_KEY: rootKey }))
  const ours = stack.use(
    new Child<OursDesk>('./instances-ours.ts', {
      SERVICE_NETWORK_URL: url,
      SERVICE_NETWORK_ROOT_KEY: rootKey,
      DATABASE_URL: `file:${database}`,
      DOWNSTREAM_BASE_URL: helpdesk.url,
      DOWNSTREAM_API_TOKEN: helpdesk.api_token,
      DOWNSTREAM_ACCOUNT_ID: String(helpdesk.account_id),
      DOWNSTREAM_INBOX_ID: String(helpdesk.inbox_id),
      PORT: '0',
      LOG_FORMAT: 'json',
    }),
  )
  await Promise.all([ours.ask('start'), bare.ask('start', files)])
  for (const way of ways) {
    await until(`${way} is online`, async () => (await sim.ask('online', numbers[way])) === instances)
  }
  return { sim, ours, bare, numbers }
}

/** The first blocks open sessions, contacts and conversations; they are not counted. */
async function compare(stage: Stage, target: Target): Promise<Record<Way, Record<string, number>>> {
  const blocks = { ours: () => block(stage, 'ours', target), bare: () => block(stage, 'bare', target) }
  await interleave(1, blocks)
  return interleave(rounds, blocks)
}

async function block({ sim, ours, bare, numbers }: Stage, way: Way, target: Target): Promise<Record<string, number>> {
  const count = Math.max(messages[target], numbers[way].length * 10)
  const arrived = () => (way === 'ours' ? sim.ask('posted') : bare.ask('received'))
  await sim.ask('prepare', { numbers: numbers[way], target, count })
  const [before, arrivedBefore] = [await (way === 'ours' ? ours : bare).ask('cpuMs'), await arrived()]
  const started = performance.now()
  const times: number[] = []
  await sim.ask('release', numbers[way])
  await until(`${way} has ${count} messages`, async () => {
    const now = (await arrived()) - arrivedBefore
    while (times.length < now) times.push(performance.now() - started)
    return now >= count
  })
  const wallMs = performance.now() - started
  const after = await (way === 'ours' ? ours : bare).ask('cpuMs')
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN
  return {
    cpu_ms: (after - before) / count,
    messages_per_s: (count / wallMs) * 1000,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + waitMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${waitMs} ms until ${what}`)
    await sleep(pollMs)
  }
}

function numbersOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(7, '0')}`)
}
