// What a message of an agent costs, from the helpdesk's callback to the network's acknowledgement, against the bare library.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { interleave, round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import type { OursDesk } from './instances-ours.ts'
import { fillDatabase, parseCredentials, writeFiles } from './instances-seed.ts'
import type { BareDesk } from './outbound-bare.ts'
import { writeAll } from './outbound-load.ts'
import type { SimDesk } from './outbound-sim.ts'

type Way = 'ours' | 'bare'
type Target = 'person' | 'group'
type Chats = Record<Target, string[]>
type Place = { accountId: number; inboxId: number }
type Stage = { sim: Child<SimDesk>; ours: Child<OursDesk>; bare: Child<BareDesk>; url: string } & {
  chats: Record<Way, Chats>
  place: Place
}

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const instanceCounts = (process.env['BENCH_INSTANCES'] ?? '1,50').split(',').map(Number)
const messages = { person: 200, group: 20 }
const least = { person: 10, group: 2 }
const readers = { person: 1, group: 99 }
const pollMs = 20
const waitMs = 120_000
const ways: readonly Way[] = ['ours', 'bare']

export async function run(): Promise<BenchmarkResult> {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  for (const instances of instanceCounts) {
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
  const targets = Object.fromEntries(
    instanceCounts.flatMap((instances) => [
      [`${instances}_instances_person_cpu`, { atMost: 1.5 }],
      [`${instances}_instances_group_cpu`, { atMost: 0.25 }],
    ]),
  )
  return { figures, ratios, targets }
}

async function open(stack: AsyncDisposableStack, instances: number): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const sim = stack.use(new Child<SimDesk>('./outbound-sim.ts'))
  const facts = await sim.ask('facts')
  const numbers = { ours: numbersOf('551190', instances), bare: numbersOf('551180', instances) }
  const linked = { ours: await sim.ask('link', numbers.ours), bare: await sim.ask('link', numbers.bare) }
  const accountsOf = (way: Way) => linked[way].map(({ credentials }) => parseCredentials(credentials, 30))
  const database = join(directory, 'service.db')
  await fillDatabase(database, accountsOf('ours'))
  const files = await writeFiles(directory, accountsOf('bare'))
  const network = { NETWORK_URL: facts.url, NETWORK_ROOT_KEY: facts.rootKey }
  const bare = stack.use(new Child<BareDesk>('./outbound-bare.ts', network))
  const ours = stack.use(new Child<OursDesk>('./instances-ours.ts', environmentOf(facts, database)))
  const [url] = await Promise.all([ours.ask('start'), bare.ask('start', files)])
  for (const way of ways) {
    await until(`${way} is online`, async () => (await sim.ask('online', numbers[way])) === instances)
  }
  await until('the service is ready', () => isReady(url))
  const chatsOf = (way: Way) => ({
    person: linked[way].map(({ person }) => person),
    group: linked[way].map(({ group }) => group),
  })
  const place = { accountId: facts.helpdesk.account_id, inboxId: facts.helpdesk.inbox_id }
  return { sim, ours, bare, url, chats: { ours: chatsOf('ours'), bare: chatsOf('bare') }, place }
}

type Facts = ReturnType<SimDesk['facts']>

function environmentOf({ url, rootKey, helpdesk }: Facts, database: string): Record<string, string> {
  return {
    SERVICE_NETWORK_URL: url,
    SERVICE_NETWORK_ROOT_KEY: rootKey,
    SERVICE_DRAIN_RATE: '0',
    DATABASE_URL: `file:${database}`,
    DOWNSTREAM_BASE_URL: helpdesk.url,
    DOWNSTREAM_API_TOKEN: helpdesk.api_token,
    DOWNSTREAM_ACCOUNT_ID: String(helpdesk.account_id),
    DOWNSTREAM_INBOX_ID: String(helpdesk.inbox_id),
    PORT: '0',
    LOG_FORMAT: 'json',
  }
}

async function isReady(url: string): Promise<boolean> {
  const list = (await (await fetch(`${url}/api/instances`)).json()) as { state: string }[]
  return list.every(({ state }) => state === 'ready')
}

/** The first blocks open sessions and hand out the keys of groups; they are not counted. */
async function compare(stage: Stage, target: Target): Promise<Record<Way, Record<string, number>>> {
  const blocks = { ours: () => block(stage, 'ours', target), bare: () => block(stage, 'bare', target) }
  await interleave(1, blocks)
  return interleave(rounds, blocks)
}

async function block({ sim, ours, bare, ...stage }: Stage, way: Way, target: Target): Promise<Record<string, number>> {
  const chats = stage.chats[way][target]
  const each = Math.max(least[target], messages[target] / chats.length)
  const count = each * chats.length
  const [before, receivedBefore] = [await (way === 'ours' ? ours : bare).ask('cpuMs'), await sim.ask('received')]
  const started = performance.now()
  const times =
    way === 'ours'
      ? await writeAll(stage.url, { chats, each, ...stage.place })
      : await bare.ask('send', { chats, each })
  const wallMs = performance.now() - started
  await until(`${way} has sent ${count} messages`, async () => {
    return (await sim.ask('received')) - receivedBefore >= count * readers[target]
  })
  const after = await (way === 'ours' ? ours : bare).ask('cpuMs')
  times.sort((a, b) => a - b)
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
