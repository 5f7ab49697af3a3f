// What a received message costs, from the wire to the helpdesk, against the bare library that only hands it over.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import { figuresOf, measureFlow, numbersOf, serviceEnvironment, until, ways } from './flow.ts'
import type { Figures, Target, Way } from './flow.ts'
import type { BareDesk } from './inbound-bare.ts'
import type { SimDesk } from './inbound-sim.ts'
import type { OursDesk } from './instances-ours.ts'
import { fillDatabase, parseCredentials, writeFiles } from './instances-seed.ts'

type Stage = { sim: Child<SimDesk>; ours: Child<OursDesk>; bare: Child<BareDesk>; numbers: Record<Way, string[]> }

const messages = { person: 200, group: 100 }

export function run(): Promise<BenchmarkResult> {
  return measureFlow<Stage>({
    open,
    block,
    problems: ({ sim }) => sim.ask('problems'),
    limits: { person: { atMost: 2.5 }, group: { atMost: 0.25 } },
  })
}

async function open(stack: AsyncDisposableStack, instances: number): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const sim = stack.use(new Child<SimDesk>('./inbound-sim.ts'))
  const facts = await sim.ask('facts')
  const numbers = numbersOf(instances)
  const linked = async (way: Way) => (await sim.ask('link', numbers[way])).map((text) => parseCredentials(text, 30))
  const database = join(directory, 'service.db')
  await fillDatabase(database, await linked('ours'))
  const files = await writeFiles(directory, await linked('bare'))
  const network = { NETWORK_URL: facts.url, NETWORK_ROOT_KEY: facts.rootKey }
  const bare = stack.use(new Child<BareDesk>('./inbound-bare.ts', network))
  const ours = stack.use(new Child<OursDesk>('./instances-ours.ts', serviceEnvironment(facts, database)))
  await Promise.all([ours.ask('start'), bare.ask('start', files)])
  for (const way of ways) {
    await until(`${way} is online`, async () => (await sim.ask('online', numbers[way])) === instances)
  }
  return { sim, ours, bare, numbers }
}

async function block({ sim, ours, bare, numbers }: Stage, way: Way, target: Target): Promise<Figures> {
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
  const cpuMs = (await (way === 'ours' ? ours : bare).ask('cpuMs')) - before
  return figuresOf({ cpuMs, wallMs, count, times })
}
