// What a received message costs, from the wire to the helpdesk, against the bare library that only hands it over.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import { figuresOf, measureFlow, messagesPer, numbersOf, until, ways } from './flow.ts'
import type { Figures, Limits, Target, Way } from './flow.ts'
import { openServices } from './flow-services.ts'
import type { Services } from './flow-services.ts'
import type { BareDesk } from './inbound-bare.ts'
import type { SimDesk } from './inbound-sim.ts'
import { parseCredentials, writeFiles } from './instances-seed.ts'

type Stage = Services & { sim: Child<SimDesk>; bare: Child<BareDesk>; numbers: Record<Way, string[]> }

const messages = messagesPer({ person: 600, group: 100 })
/** Ten people write to each account. Each of them writes four messages, as people do, or one to a group. */
const least = { person: 40, group: 10 }

export function run(): Promise<BenchmarkResult> {
  return measureFlow<Stage>({
    open,
    block,
    problems: ({ sim }) => sim.ask('problems'),
    limits,
    countOf,
  })
}

function limits(instances: number, target: Target): Limits {
  if (target === 'group') return { cpu: { atMost: 0.08 }, rate: { atLeast: 10 } }
  return instances === 1 ? { cpu: { atMost: 1.3 } } : { cpu: { atMost: 0.85 }, rate: { atLeast: 1.3 } }
}

function countOf(target: Target, instances: number): number {
  return Math.max(messages[target], instances * least[target])
}

async function open(stack: AsyncDisposableStack, instances: number): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const sim = stack.use(new Child<SimDesk>('./inbound-sim.ts'))
  const facts = await sim.ask('facts')
  const numbers = numbersOf(instances)
  const linked = async (way: Way) => (await sim.ask('link', numbers[way])).map((text) => parseCredentials(text, 30))
  const files = await writeFiles(directory, await linked('bare'))
  const network = { NETWORK_URL: facts.url, NETWORK_ROOT_KEY: facts.rootKey }
  const bare = stack.use(new Child<BareDesk>('./inbound-bare.ts', network))
  const accounts = { ours: await linked('ours'), postgres: await linked('postgres') }
  const services = await openServices(stack, { directory, facts, accounts })
  await Promise.all([services.ours.ask('start'), services.postgres.ask('start'), bare.ask('start', files)])
  for (const way of ways) {
    await until(`${way} is online`, async () => (await sim.ask('online', numbers[way])) === instances)
  }
  return { ...services, sim, bare, numbers }
}

async function block({ sim, bare, numbers, ...services }: Stage, way: Way, target: Target): Promise<Figures> {
  const count = countOf(target, numbers[way].length)
  const arrived = () => (way === 'bare' ? bare.ask('received') : sim.ask('posted'))
  const cpuMsSoFar = () => (way === 'bare' ? bare : services[way]).ask('cpuMs')
  await sim.ask('prepare', { numbers: numbers[way], target, count })
  const [before, arrivedBefore, simulatorBefore] = [await cpuMsSoFar(), await arrived(), await sim.ask('cpuMs')]
  const started = performance.now()
  const times: number[] = []
  await sim.ask('release', numbers[way])
  await until(`${way} has ${count} messages`, async () => {
    const now = (await arrived()) - arrivedBefore
    while (times.length < now) times.push(performance.now() - started)
    return now >= count
  })
  const wallMs = performance.now() - started
  const cpuMs = (await cpuMsSoFar()) - before
  const simulatorMs = (await sim.ask('cpuMs')) - simulatorBefore
  return { ...figuresOf({ cpuMs, wallMs, count, times }), simulator_cores: simulatorMs / wallMs }
}
