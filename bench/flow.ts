// What the benchmarks of the two message flows share: all ways in turn, for several numbers of accounts, to a person and
// to a group, and the cost per message.

import { setTimeout as sleep } from 'node:timers/promises'
import { inTurn, medianRatio, medians, percentile, round } from './benchmark.ts'
import type { BenchmarkResult, Target as Limit } from './benchmark.ts'

/** `ours` is the service on SQLite, `postgres` the service on PostgreSQL. */
export type Way = 'ours' | 'postgres' | 'bare'
export type Target = 'person' | 'group'
export type Figures = Record<string, number>

type Flow<Stage> = {
  open: (stack: AsyncDisposableStack, instances: number) => Promise<Stage>
  /** Sends or receives so many messages one way, and measures it. */
  block: (stage: Stage, way: Way, target: Target) => Promise<Figures>
  problems: (stage: Stage) => Promise<string[]>
  /** Ours against the bare library. */
  limits: (instances: number, target: Target) => Limits
  /** How many messages a block has. */
  countOf: (target: Target, instances: number) => number
}
/** `rate` is the messages per second. */
export type Limits = { cpu: Limit; rate?: Limit }

export const ways: readonly Way[] = ['ours', 'postgres', 'bare']
/** What the service may cost on PostgreSQL of what it costs on SQLite. */
const postgresLimit: Limit = { atMost: 1.5 }
const targets: readonly Target[] = ['person', 'group']
const { BENCH_ROUNDS: askedRounds } = process.env
const rounds = Number(askedRounds ?? 12)
/**
 * So many messages of each way come before those that count. V8 compiles much of the code until then. After 800 messages to one
 * group the bare library costs as much as it ever does.
 */
const warmUpMessages: Record<Target, number> = { person: 6000, group: 800 }
const instanceCounts = (process.env['BENCH_INSTANCES'] ?? '1,50').split(',').map(Number)
const pollMs = 20
const waitMs = 120_000

export async function measureFlow<Stage>(flow: Flow<Stage>): Promise<BenchmarkResult> {
  const result: BenchmarkResult = { figures: {}, ratios: {}, targets: {} }
  for (const instances of instanceCounts) {
    await using stack = new AsyncDisposableStack()
    const stage = await flow.open(stack, instances)
    for (const target of targets) {
      const warmUps = Math.ceil(warmUpMessages[target] / flow.countOf(target, instances))
      const measured = await compare(flow, stage, { target, warmUps })
      const name = `${instances}_instances_${target}`
      for (const way of ways) {
        for (const [figure, value] of Object.entries(medians(measured[way]))) {
          result.figures[`${way}_${name}_${figure}`] = round(value)
        }
      }
      result.ratios[`${name}_cpu`] = round(medianRatio(measured.ours, measured.bare, 'cpu_ms'))
      result.ratios[`${name}_rate`] = round(medianRatio(measured.ours, measured.bare, 'messages_per_s'))
      const { cpu, rate } = flow.limits(instances, target)
      result.targets[`${name}_cpu`] = cpu
      if (rate) result.targets[`${name}_rate`] = rate
      result.ratios[`${name}_postgres_cpu`] = round(medianRatio(measured.postgres, measured.ours, 'cpu_ms'))
      result.targets[`${name}_postgres_cpu`] = postgresLimit
    }
    const problems = await flow.problems(stage)
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }
  return result
}

/** The first blocks open sessions, hand out keys, make contacts known and warm all ways up; they are not counted. BENCH_ROUNDS limits them. */
async function compare<Stage>(
  flow: Flow<Stage>,
  stage: Stage,
  { target, warmUps }: { target: Target; warmUps: number },
): Promise<Record<Way, Figures[]>> {
  const blocks = {
    ours: () => flow.block(stage, 'ours', target),
    postgres: () => flow.block(stage, 'postgres', target),
    bare: () => flow.block(stage, 'bare', target),
  }
  await inTurn(askedRounds === undefined ? warmUps : Math.min(warmUps, rounds), blocks)
  return inTurn(rounds, blocks)
}

/** Of `count` messages; `times` are how long each took, in milliseconds. */
export function figuresOf(measured: {
  cpuMs: number
  wallMs: number
  count: number
  times: readonly number[]
}): Figures {
  const { cpuMs, wallMs, count, times } = measured
  const [p50_ms, p99_ms] = [percentile(times, 0.5), percentile(times, 0.99)]
  return { cpu_ms: cpuMs / count, messages_per_s: (count / wallMs) * 1000, p50_ms, p99_ms }
}

/** BENCH_MESSAGES=20 with BENCH_ROUNDS=1 for a quick try; a group gets fewer, because each message goes to every member. */
export function messagesPer(usual: Record<Target, number>): Record<Target, number> {
  const { BENCH_MESSAGES: asked } = process.env
  if (asked === undefined) return usual
  const person = Number(asked)
  return { person, group: Math.ceil((person * usual.group) / usual.person) }
}

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + waitMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${waitMs} ms until ${what}`)
    await sleep(pollMs)
  }
}

/** Whether all instances of the service at this address are ready. */
export async function isReady(url: string): Promise<boolean> {
  const list = (await (await fetch(`${url}/api/instances`)).json()) as { state: string }[]
  return list.every(({ state }) => state === 'ready')
}

/** Phone numbers of so many accounts of each way. */
export function numbersOf(instances: number): Record<Way, string[]> {
  const numbers = (prefix: string) =>
    Array.from({ length: instances }, (_, index) => `${prefix}${String(index).padStart(7, '0')}`)
  return { ours: numbers('551190'), postgres: numbers('551170'), bare: numbers('551180') }
}

export function instanceName(index: number): string {
  return `instance-${String(index).padStart(4, '0')}`
}

export type Facts = {
  url: string
  rootKey: string
  helpdesk: { url: string; api_token: string; account_id: number; inbox_id: number }
}

/** The service as it ships, between the simulated network and the simulated helpdesk. */
export function serviceEnvironment({ url, rootKey, helpdesk }: Facts, databaseUrl: string): Record<string, string> {
  return {
    SERVICE_NETWORK_URL: url,
    SERVICE_NETWORK_ROOT_KEY: rootKey,
    DATABASE_URL: databaseUrl,
    DOWNSTREAM_BASE_URL: helpdesk.url,
    DOWNSTREAM_API_TOKEN: helpdesk.api_token,
    DOWNSTREAM_ACCOUNT_ID: String(helpdesk.account_id),
    DOWNSTREAM_INBOX_ID: String(helpdesk.inbox_id),
    PORT: '0',
    LOG_FORMAT: 'json',
  }
}
