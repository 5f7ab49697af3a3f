// How much the service grows while a large file passes from the network to the helpdesk, against the size of the file.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interleave, round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import { serviceEnvironment, until } from './flow.ts'
import type { OursDesk } from './instances-ours.ts'
import { fillDatabase, parseCredentials } from './instances-seed.ts'
import type { SimDesk } from './media-sim.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const megabyte = 1024 * 1024
/** BENCH_FILE_MB=256 shows what does not grow with the file. */
const fileBytes = Number(process.env['BENCH_FILE_MB'] ?? 64) * megabyte

export async function run(): Promise<BenchmarkResult> {
  await using stack = new AsyncDisposableStack()
  const sim = stack.use(new Child<SimDesk>('./media-sim.ts'))
  let accounts = 0
  const passed = async () => growth(sim, `551190${String(accounts++).padStart(7, '0')}`)
  const { ours } = await interleave(rounds, { ours: passed })
  const problems = await sim.ask('problems')
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const figures = Object.fromEntries(Object.entries(ours).map(([name, value]) => [name, round(value)]))
  return {
    figures: { file_mb: fileBytes / megabyte, ...figures },
    ratios: { growth: round(((ours['growth_mb'] ?? NaN) * megabyte) / fileBytes) },
    targets: { growth: { atMost: 0.5 } },
  }
}

/** In a fresh process each time: memory that a process once had is kept for the next file. */
async function growth(sim: Child<SimDesk>, number: string): Promise<Record<string, number>> {
  await using stack = new AsyncDisposableStack()
  const ours = await open(stack, sim, number)
  await sim.ask('pass', { number, bytes: megabyte })
  const { residentKb } = await ours.ask('memory')
  await ours.ask('watchResident')
  const wallMs = await sim.ask('pass', { number, bytes: fileBytes })
  const peakKb = await ours.ask('peakResidentKb')
  return { baseline_mb: residentKb / 1024, growth_mb: (peakKb - residentKb) / 1024, wall_ms: wallMs }
}

async function open(stack: AsyncDisposableStack, sim: Child<SimDesk>, number: string): Promise<Child<OursDesk>> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const facts = await sim.ask('facts')
  const [database, trusted] = [join(directory, 'service.db'), join(directory, 'ca.pem')]
  await writeFile(trusted, facts.certificate)
  await fillDatabase(database, [parseCredentials(await sim.ask('link', number), 30)])
  const ours = stack.use(
    new Child<OursDesk>('./instances-ours.ts', {
      ...serviceEnvironment(facts, `file:${database}`),
      SERVICE_NETWORK_CA: trusted,
      SERVICE_MEDIA_MAX_BYTES: `${fileBytes / megabyte}mb`,
    }),
  )
  await ours.ask('start')
  await until('the account is online', () => sim.ask('isOnline', number))
  return ours
}
