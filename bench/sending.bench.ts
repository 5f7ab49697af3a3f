// What a message costs to send, to one person and to a group of a hundred: the service against the bare library.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interleave, round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import type { BareDesk } from './sending-bare.ts'
import type { OursDesk } from './sending-ours.ts'
import type { SimDesk } from './sending-sim.ts'

type Way = 'ours' | 'bare'
type Sender = { child: Child<OursDesk | BareDesk>; person: string; group: string }

const ways: readonly Way[] = ['ours', 'bare']
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const counts = { person: 200, group: 20 }

export async function run(): Promise<BenchmarkResult> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const sim = stack.use(new Child<SimDesk>('./sending-sim.ts'))
  const { url, rootKey } = await sim.ask('address')
  const open = async (way: Way, number: string): Promise<Sender> => {
    const { credentials, ...chats } = await sim.ask('link', number)
    const environment = { NETWORK_URL: url, NETWORK_ROOT_KEY: rootKey, CREDENTIALS: credentials }
    const database = join(directory, 'service.db')
    const child = stack.use(
      new Child<OursDesk | BareDesk>(`./sending-${way}.ts`, { ...environment, DATABASE: database }),
    )
    await child.ask('open')
    return { child, ...chats }
  }
  const senders = { ours: await open('ours', '5511999990001'), bare: await open('bare', '5511999990002') }
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  for (const target of ['person', 'group'] as const) {
    const measured = await compare(senders, target)
    for (const way of ways) {
      figures[`${way}_${target}_cpu_ms`] = round(measured[way]['cpuMs'] ?? NaN)
      figures[`${way}_${target}_wall_ms`] = round(measured[way]['wallMs'] ?? NaN)
    }
    ratios[`send_${target}_cpu`] = round((measured.ours['cpuMs'] ?? NaN) / (measured.bare['cpuMs'] ?? NaN))
  }
  const problems = [...(await sim.ask('problems')), `unread: ${await sim.ask('unread')}`]
  if (problems.join() !== 'unread: 0') throw new Error(problems.join('\n'))
  return { figures, ratios, targets: { send_person_cpu: { atMost: 1.5 }, send_group_cpu: { atMost: 0.25 } } }
}

/** Per message, after a first block that opens the sessions. */
async function compare(senders: Record<Way, Sender>, target: 'person' | 'group') {
  const block = async (way: Way) => {
    const { child, [target]: chat } = senders[way]
    const before = await child.ask('cpuMs')
    const started = performance.now()
    await child.ask('send', { chat, count: counts[target] })
    const wallMs = (performance.now() - started) / counts[target]
    return { wallMs, cpuMs: ((await child.ask('cpuMs')) - before) / counts[target] }
  }
  const blocks = { ours: () => block('ours'), bare: () => block('bare') }
  await interleave(1, blocks)
  return interleave(rounds, blocks)
}
